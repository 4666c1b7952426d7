/** Each file of JSON that a person writes: a name that is there twice is not taken as its last value, and faults have a place. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { agentsExecutable } from './agents-executable.ts';
import { edited } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const url = '"url":"https://a.example.com/a/"';
const destination = (kind: string, more = '') =>
  `{"apiVersion":"sno-agents/v1","kind":"${kind}",${url}${more}}`;
const recipients =
  ',"recipients":["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]';

/** A file, the option that names it, right contents, and the value in them that is to come twice. */
const FILES = [
  ['settings.json', '--settings', '{"backupKeepCount":14}', '"backupKeepCount":14'],
  ['report-to.json', undefined, destination('ReportTo'), url],
  ['backup-to.json', undefined, destination('BackupTo', recipients), url],
  ['own.ign', '--ignition', '{"ignition":{"version":"3.2.0"}}', '"version":"3.2.0"'],
] as const;

for (const [name, option, right, value] of FILES) {
  t.test(name, async (t) => {
    const create = async (text: string) => {
      const root = t.testdir({
        agents: agentsExecutable(),
        dir: { 'install-config.yaml': edited([]) },
      });
      const path = join(root, 'dir', name);
      writeFileSync(path, text);
      const { code, err } = await sno([
        ...['create', 'single-node-ignition-config', '--dir', join(root, 'dir')],
        ...['--agents-executable', join(root, 'agents')],
        ...(option === undefined ? [] : [option, path]),
      ]);
      return { code, err, isWritten: existsSync(join(root, 'dir/auth')) };
    };
    t.match(await create(right), { code: 0, isWritten: true });
    t.match(await create(right.replace(value, `${value},${value}`)), {
      code: 2,
      err: /the same name twice at character \d+: the first would not count/,
      isWritten: false,
    });
    t.match(await create(right.replace(value, `${value},`)), {
      code: 2,
      err: /JSON: a name without quotes, or one too many comma at character \d+/,
      isWritten: false,
    });
  });
}

t.test('sno verify ignition', async (t) => {
  const path = join(t.testdir(), 'own.ign');
  writeFileSync(path, '{"ignition":{"version":"3.2.0","version":"3.4.0"}}');
  t.match(await sno(['verify', 'ignition', path]), { code: 2, err: /the same name twice/ });
  // Ignition reads the same file, and refuses it.
  writeFileSync(path, '\uFEFF{"ignition":{"version":"3.2.0"}}');
  t.match(await sno(['verify', 'ignition', path]), { code: 2, err: /a byte order mark/ });
});
