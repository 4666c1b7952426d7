/** Of a line, as Ignition takes it (go-systemd, unit/deserialize.go). */
const LINE_BYTES = 2048;

/**
 * Why Ignition's parser, which refuses the whole config then, or systemd, which reads over a setting outside of the
 * sections, does not take the text of a unit or drop-in; undefined if both do.
 */
export function unitTextProblem(text: string): string | undefined {
  const long = text.split('\n').findIndex((line) => Buffer.byteLength(line) >= LINE_BYTES);
  if (long >= 0) {
    return `with ${LINE_BYTES} bytes or more in line ${long + 1}: end it with \\, and go on in the next one`;
  }
  let isInSection = false;
  for (let at = 0; at < text.length; ) {
    const next = text.charAt(at);
    if (next === '[') {
      const end = text.indexOf(']', at);
      if (end < 0) return `with a section in ${lineOf(text, at)} that has no ]`;
      const line = endOfLine(text, end);
      if (text.slice(end + 1, line).trim() !== '') {
        return `with more than the name of the section in ${lineOf(text, end)}`;
      }
      isInSection = true;
      at = line + 1;
    } else if (next === '#' || next === ';') {
      at = behind(text, at, / ?$/);
    } else if (/\s/.test(next)) {
      at += 1;
    } else if (!isInSection) {
      return 'that do not begin with a section such as [Service]';
    } else {
      const line = text.slice(at, endOfLine(text, at));
      const equals = line.indexOf('=');
      if (equals < 0 || line.slice(0, equals).includes('\r')) {
        return `without = in ${lineOf(text, at)}: a setting is NAME=VALUE, and a comment ends one that goes on behind \\`;
      }
      at = behind(text, at + equals + 1, /$/);
    }
  }
  return undefined;
}

const endOfLine = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
};

const lineOf = (text: string, at: number): string => `line ${text.slice(0, at).split('\n').length}`;

/** Where the line after this one begins, and after those in which it goes on behind a backslash. */
function behind(text: string, from: number, trailing: RegExp): number {
  for (let at = from; ; ) {
    const end = endOfLine(text, at);
    const line = text.slice(at, end).replace(trailing, '');
    at = end + 1;
    if (!line.endsWith('\\') || end === text.length) return at;
  }
}
