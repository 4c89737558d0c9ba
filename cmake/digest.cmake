# Writes OUT: a string literal with the SHA-256 over the contents of SOURCES (in order, names relative to ROOT) and VERSIONS.
set(all "${VERSIONS}")
foreach(source ${SOURCES})
  file(SHA256 ${source} one)
  file(RELATIVE_PATH name ${ROOT} ${source})
  string(APPEND all "\n${name} ${one}")
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUT} "\"${digest}\"\n")
