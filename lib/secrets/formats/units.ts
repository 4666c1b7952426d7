import { unescaped, words } from './quoting.ts';
import { lines, type NamedValue } from './settings.ts';

/** The value of a credential follows the first colon. The name of a credential is arbitrary. */
const CREDENTIAL = /^\s*SetCredential\s*=[^:]{1,255}:/;
const DIRECTIVE = /^\s*[A-Za-z0-9]{1,64}\s*=/;

/**
 * systemd units, drop-ins and system.conf: variables in `Environment=`, options in `ExecStart=`
 * (with systemd's escapes, quotes and `%%`), values of `SetCredential=`.
 */
export function* units(text: string): Generator<NamedValue> {
  for (const line of lines(text.replace(/\\\r?\n/g, ' '))) {
    const credential = CREDENTIAL.exec(line)?.[0];
    if (credential !== undefined) yield ['password', unescaped(line.slice(credential.length))];
    const directive = DIRECTIVE.exec(line)?.[0];
    if (directive === undefined) continue;
    const rest = line.slice(directive.length);
    for (const [name, value] of [...assigned(words(rest)), ...assigned(systemdWords(rest))]) {
      yield [name, value];
      if (value.includes('%%')) yield [name, value.replaceAll('%%', '%')];
    }
  }
}

/** systemd resolves escapes inside both kinds of quotes, unlike a shell. */
const systemdWords = (rest: string): string[] =>
  words(rest.replace(/\\(?=[^"'\\])/g, '\\\\')).map(unescaped);

/** `NAME=value`, `--name=value` and `--name value`. */
function* assigned(all: readonly string[]): Generator<NamedValue> {
  for (const [index, word] of all.entries()) {
    const at = word.indexOf('=');
    if (at > 0) yield [word.slice(0, at), word.slice(at + 1)];
    const option = /^--?([\w.-]{2,200})$/.exec(all[index - 1] ?? '')?.[1];
    if (option !== undefined && !word.startsWith('-')) yield [option, word];
  }
}

const ENVIRONMENT_FILE =
  /^\s{0,8}EnvironmentFile\s{0,8}=\s{0,8}-?"?(?<path>\/[^\s"*?[%]{1,1024})(?=["\s]|$)/gm;

/** Absolute paths in `EnvironmentFile=`, except for patterns. */
export const environmentFiles = (text: string): string[] =>
  [...text.matchAll(ENVIRONMENT_FILE)].flatMap(({ groups }) => groups?.path ?? []);
