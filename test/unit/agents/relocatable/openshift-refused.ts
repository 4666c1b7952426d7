import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { HOST_CHECKS } from '../../../../lib/relocation/relocatable/openshift/host-checks.ts';
import type { TestHost } from '../host/host.ts';
import { prepare } from './openshift-host.ts';

/** Every file and link in /etc and /usr of the host, with the contents of files. */
export function present(host: TestHost): Map<string, string> {
  const all = ['/etc', '/usr/local', '/var/lib/sno-agents/bin'].flatMap((folder) =>
    host.has(folder)
      ? readdirSync(host.at(folder), { recursive: true, withFileTypes: true }).map((entry) => ({
          entry,
          path: join(entry.parentPath, entry.name).slice(host.root.length),
        }))
      : [],
  );
  return new Map(
    all.flatMap(({ entry, path }): [string, string][] => {
      if (entry.isDirectory()) return [];
      return [[path, entry.isFile() ? readFileSync(host.at(path), 'utf8') : 'link']];
    }),
  );
}

/** The checks of which a refusal names a fault, each once. */
const checksIn = (text: string): string[] =>
  Object.keys(HOST_CHECKS).filter((check) => new RegExp(`(?:found |; )${check}: `).test(text));

/** Exit code 2, with nothing changed on the host. Returns the checks that have found something. */
export async function refusedWithoutChange(
  t: Test,
  host: TestHost,
  says: RegExp,
  ...args: string[]
): Promise<string[]> {
  const before = present(host);
  const calls = host.programs.calls().length;
  const { code, text } = await prepareSaying(host, ...args);
  t.equal(code, 2);
  t.match(text, says);
  t.strictSame(present(host), before, 'nothing was changed');
  const made = host.programs.calls().slice(calls);
  t.same(
    made.filter((call) => /enable|reload|start|up |load/.test(call)),
    [],
    'nothing was called that changes something',
  );
  return checksIn(text);
}

/** With what the command says on standard error. */
export async function prepareSaying(host: TestHost, ...args: string[]) {
  const { write } = process.stderr;
  const lines: string[] = [];
  process.stderr.write = (text: string | Uint8Array) => {
    lines.push(String(text));
    return true;
  };
  try {
    const { code, text } = await prepare(host, ...args);
    return { code, text: text + lines.join('') };
  } finally {
    process.stderr.write = write;
  }
}
