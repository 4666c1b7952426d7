/**
 * Inlines files that the code reads relative to itself. Source run by Node reads them from the
 * checkout; an executable has no checkout, so at bundle time
 *
 *     readFileSync(new URL('../units/x.service', import.meta.url), 'utf8')
 *
 * becomes the file's text as a string literal, and
 *
 *     new Worker(new URL('./thread.ts', import.meta.url), { ... })
 *
 * becomes a thread that evaluates the bundle of that file. The path must be a literal. Any other
 * use of `import.meta.url` fails the build, since it has no value in the executable.
 */

const READ_BESIDE =
  /\breadFileSync\(\s*new URL\(\s*(['"])([^'"]+)\1,\s*import\.meta\.url,?\s*\),\s*(['"])utf-?8\3,?\s*\)/g;

const THREAD_BESIDE =
  /\bnew Worker\(\s*new URL\(\s*(['"])([^'"]+)\1,\s*import\.meta\.url,?\s*\),\s*\{/g;

/** Thrown for source that depends on its location; says what to write instead. */
export class InlineError extends Error {
  override readonly name = 'InlineError';
}

export interface Beside {
  /** The text of a file, by its URL. */
  readText(file: URL): Promise<string>;
  /** The code of the thread that begins with a module, by its URL. */
  bundleThread(file: URL): Promise<string>;
}

/** The source with every read of a relative file replaced by its text, and every thread's file by its code. */
export async function inlineFiles(
  source: string,
  sourceUrl: URL,
  { readText, bundleThread }: Beside,
): Promise<string> {
  const literal = async (path: string, contents: Beside['readText']) =>
    JSON.stringify(await contents(new URL(path, sourceUrl)));
  const withThreads = await replaced(
    source,
    THREAD_BESIDE,
    async (path) => `new Worker(${await literal(path, bundleThread)}, { eval: true,`,
  );
  const result = await replaced(withThreads, READ_BESIDE, (path) => literal(path, readText));
  if (result.includes('import.meta.')) throw new InlineError(leftover(result));
  return result;
}

async function replaced(
  source: string,
  shape: RegExp,
  by: (path: string) => Promise<string>,
): Promise<string> {
  const parts: string[] = [];
  let end = 0;
  for (const match of source.matchAll(shape)) {
    const [call, , path = ''] = match;
    parts.push(source.slice(end, match.index), await by(path));
    end = match.index + call.length;
  }
  return parts.join('') + source.slice(end);
}

function leftover(source: string): string {
  const line = source.split('\n').find((text) => text.includes('import.meta.')) ?? '';
  return (
    `import.meta has no value in an executable: ${line.trim()}. ` +
    "Write readFileSync(new URL('<literal path>', import.meta.url), 'utf8')"
  );
}
