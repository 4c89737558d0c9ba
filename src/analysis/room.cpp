// Placeholder of an empty room: to be removed with its first source.
