/**
 * A comment that the build puts into the sno-agents executable, whose program is stored
 * there as text: by it `sno` knows the executable without running it.
 */
export const executableMark = (version: string): string =>
  `/*! sno-agents-executable version=${version}; */`;

/** The longest mark that is read. */
export const MAX_MARK_BYTES = 256;

/** The version in the mark; this program's own text does not match. */
export const MARK = /sno-agents-executable version=(\d[\w.+-]{0,127});/;
