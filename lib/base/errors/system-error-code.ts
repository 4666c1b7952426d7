/** The code of a system error, such as `ENOENT`; undefined for anything without a code. */
export const systemErrorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
