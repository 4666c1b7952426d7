/** Why PEM is none, if its lines were lost on the way into YAML: no program reads it without them. */
export function lostLines(
  text: string,
): { readonly found: string; readonly fix: string } | undefined {
  const fix = 'Write "|" after the colon, and below it every line of the file, indented.';
  if (/-----BEGIN [A-Z0-9 ]+-----\\n/.test(text)) {
    return { found: '\\n as two characters, where lines should end', fix };
  }
  return /-----BEGIN [A-Z0-9 ]+----- *\S/.test(text)
    ? { found: 'PEM in one line, as ">" and quotes fold it', fix }
    : undefined;
}
