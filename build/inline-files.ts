/**
 * Inlines files that the code reads relative to itself. Source run by Node reads them from the
 * checkout; an executable has no checkout, so at bundle time
 *
 *     readFileSync(new URL('../units/x.service', import.meta.url), 'utf8')
 *
 * becomes the file's text as a string literal. The path must be a literal. Any other use of
 * `import.meta.url` fails the build, since it has no value in the executable.
 */

const READ_BESIDE =
  /\breadFileSync\(\s*new URL\(\s*(['"])([^'"]+)\1,\s*import\.meta\.url,?\s*\),\s*(['"])utf-?8\3,?\s*\)/g;

/** Thrown for source that depends on its location; says what to write instead. */
export class InlineError extends Error {
  override readonly name = 'InlineError';
}

/**
 * The source with every read of a relative file replaced by its text.
 * `readText` receives the file's URL, resolved against `sourceUrl`.
 */
export async function inlineFiles(
  source: string,
  sourceUrl: URL,
  readText: (file: URL) => Promise<string>,
): Promise<string> {
  const parts: string[] = [];
  let end = 0;
  for (const match of source.matchAll(READ_BESIDE)) {
    const [call, , path = ''] = match;
    const text = await readText(new URL(path, sourceUrl));
    parts.push(source.slice(end, match.index), JSON.stringify(text));
    end = match.index + call.length;
  }
  const result = parts.join('') + source.slice(end);
  if (result.includes('import.meta.')) throw new InlineError(leftover(result));
  return result;
}

function leftover(source: string): string {
  const line = source.split('\n').find((text) => text.includes('import.meta.')) ?? '';
  return (
    `import.meta has no value in an executable: ${line.trim()}. ` +
    "Write readFileSync(new URL('<literal path>', import.meta.url), 'utf8')"
  );
}
