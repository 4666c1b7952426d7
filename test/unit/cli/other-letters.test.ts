/** Manifests of a person in another encoding: decoded as UTF-8 all the same, other letters would be in the cluster. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { GOOD } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {city: "Zürich"}\n';

for (const [name, bytes, found] of [
  ['Latin-1', Buffer.from(manifest, 'latin1'), 'other bytes in line 4'],
  [
    'UTF-16, as a shell of Windows writes it',
    Buffer.from(`\ufeff${manifest}`, 'utf16le'),
    'UTF-16',
  ],
  ['a spreadsheet', Buffer.from('PK\u0003\u0004abc'), 'a spreadsheet or another archive, no text'],
] as const) {
  t.test(name, async (t) => {
    const dir = t.testdir({ 'install-config.yaml': GOOD, manifests: {} });
    writeFileSync(join(dir, 'manifests/a.yaml'), bytes);
    t.match(await sno(['verify', 'install-config', '--dir', dir]), {
      code: 2,
      err: new RegExp(`manifests/a\\.yaml: expected UTF-8 text, found ${found}. Save it as UTF-8`),
    });
    writeFileSync(join(dir, 'manifests/a.yaml'), manifest);
    t.match(await sno(['verify', 'install-config', '--dir', dir]), { code: 0 });
  });
}
