import { Script } from 'node:vm';

/** File name of the program in stack traces. */
export const FILE_NAME = 'sno-agents.cjs';

/** A bundled program: a CommonJS module as Node wraps it. */
export type Program = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
  dirname: string,
) => void;

/** The program's script source; must be identical with and without compiled code. */
export function wrapped(code: string): string {
  return `(function (exports, require, module, __filename, __dirname) {${code}\n})`;
}

/** If `compiled` is empty or from another V8, it is ignored and the program starts more slowly. */
export function programScript(source: string, compiled?: Buffer): Script {
  return new Script(source, {
    filename: FILE_NAME,
    ...(compiled === undefined || compiled.length === 0 ? {} : { cachedData: compiled }),
  });
}
