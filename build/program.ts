import { Script } from 'node:vm';

/** How places in the program are named in stack traces. */
export const FILE_NAME = 'sno-agents.cjs';

/** A bundled program: a CommonJS module as Node wraps it. */
export type Program = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
  dirname: string,
) => void;

/** The text that a script of the program has, with and without compiled code: it must be the same. */
export function wrapped(code: string): string {
  return `(function (exports, require, module, __filename, __dirname) {${code}\n})`;
}

/** `compiled` that is empty, or of another V8, is passed over: the program starts slower then. */
export function programScript(source: string, compiled?: Buffer): Script {
  return new Script(source, {
    filename: FILE_NAME,
    ...(compiled === undefined || compiled.length === 0 ? {} : { cachedData: compiled }),
  });
}
