// Writes a whole file so that a failure leaves what was there.
#pragma once
#include <string>
#include <string_view>

namespace heddle::cli {

/// Makes `bytes` the contents of `path` by a temporary file beside it and a rename; a symbolic link keeps pointing at the file it
/// names. Throws UserError, naming the reason, when the path is no regular file or cannot be written.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace heddle::cli
