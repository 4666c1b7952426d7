import { unescaped } from './quoting.ts';
import { lines, type NamedValue } from './settings.ts';

/** The value of a credential follows the first colon. The name of a credential is arbitrary. */
const CREDENTIAL = /^\s*SetCredential\s*=[^:]{1,255}:/;

/** systemd units and drop-ins: values of `SetCredential=`. What has a name is found by that. */
export function* units(text: string): Generator<NamedValue> {
  for (const line of lines(text.replace(/\\\r?\n/g, ' '))) {
    const credential = CREDENTIAL.exec(line)?.[0];
    if (credential !== undefined) yield ['password', unescaped(line.slice(credential.length))];
  }
}

const ENVIRONMENT_FILE =
  /^\s{0,8}EnvironmentFile\s{0,8}=\s{0,8}-?"?(?<path>\/[^\s"*?[%]{1,1024})(?=["\s]|$)/gm;

/** Absolute paths in `EnvironmentFile=`, except for patterns. */
export const environmentFiles = (text: string): string[] =>
  [...text.matchAll(ENVIRONMENT_FILE)].flatMap(({ groups }) => groups?.path ?? []);
