/**
 * A comment that the build adds to the sno-agents executable, which contains the
 * program as text. It lets `sno` identify the executable without running it.
 */
export const executableMark = (version: string): string =>
  `/*! sno-agents-executable version=${version}; */`;

/** The maximum length of a mark. */
export const MAX_MARK_BYTES = 256;

/** The version in the mark. Does not match the source text of this program. */
export const MARK = /sno-agents-executable version=(\d[\w.+-]{0,127});/;
