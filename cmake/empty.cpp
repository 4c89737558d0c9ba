// The shared libraries are made of rooms; CMake wants one source file of their own.
