import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { cluster } from '../agents/host/cluster.ts';
import { ageKeys, KEY, portableBackup, SIGNER } from '../change/backup/portable-backup.ts';
import { sno } from './run-sno.ts';

t.test('sno verify backup', async (t) => {
  const { to, identity } = await portableBackup(t);
  const key = join(dirname(to), 'key.txt');
  writeFileSync(key, identity);
  const { code, out } = await sno(['verify', 'backup', to, '--identity', key]);
  t.equal(code, 0);
  t.match(out, new RegExp(`${cluster.name}\\.${cluster.baseDomain} \\(${cluster.clusterId}\\)`));
  t.match(out, /edge-0, 192\.0\.2\.10\n/);
  t.match(out, /etcd at revision 70\n/);
  t.match(out, /2 files, 1 MiB, every digest as in the manifest/);
  t.match(out, /does not have the contents of persistent volumes/);
  t.notMatch(out, new RegExp(KEY));
  const { out: json } = await sno(['verify', 'backup', to, '--identity', key, '--json']);
  t.match(JSON.parse(json), {
    schemaVersion: 1,
    host: { name: 'edge-0', addresses: ['192.0.2.10'] },
    payload: { sha256: 'b'.repeat(64) },
    persistentVolumes: 'not included',
  });

  t.match(out, /author {4}not compared: give --signer/);
  t.match(JSON.parse(json), { author: 'not-compared' });
  const signer = join(dirname(to), 'signer.json');
  writeFileSync(signer, JSON.stringify(SIGNER));
  const by = ['--signer', signer];
  t.match(await sno(['verify', 'backup', to, '--identity', key, ...by]), {
    code: 0,
    out: /author {4}the host of --signer has signed it\n/,
  });
  const other = await createAuthority('admin-ca');
  writeFileSync(signer, JSON.stringify({ ...SIGNER, certificate: other.certificate }));
  t.match(await sno(['verify', 'backup', to, '--identity', key, ...by]), {
    code: 2,
    err: /found a signature by another key/,
  });

  writeFileSync(key, (await ageKeys()).identity);
  t.match(await sno(['verify', 'backup', to, '--identity', key]), {
    code: 2,
    err: /portable\.age cannot be used; found no identity matched.*Use the identity/s,
  });
  t.match(await sno(['verify', 'backup', dirname(to), '--identity', key]), {
    code: 2,
    err: /is not a regular file/,
  });
});

t.test('of a backup without signature, sno verify backup says so', async (t) => {
  const { to, identity } = await portableBackup(t, undefined, undefined, 'unsigned');
  const key = join(dirname(to), 'key.txt');
  writeFileSync(key, identity);
  t.match(await sno(['verify', 'backup', to, '--identity', key]), {
    code: 0,
    out: /author {4}not known: it is not signed\. Anybody who knows a recipient/,
  });
});
