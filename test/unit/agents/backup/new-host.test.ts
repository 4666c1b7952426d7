/** The restore on another host, as far as it is one's before its unit starts. */
import { readdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import {
  type NewHostOptions,
  restoreOnNewHost,
} from '../../../../agents/upkeep/backup/restore/new-host.ts';
import { identityChange } from '../../../../lib/change/identity/request.ts';
import { recordPath } from '../../../../lib/engine/agents/records.ts';
import { authorityNames, authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { BY_HOST, KEY, KEY_FILE, portableBackup } from '../../change/backup/portable-backup.ts';
import { input } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { BACKUPS, NAME } from './backup-host.ts';

const EVERY_AUTHORITY = Object.fromEntries(
  authorityNames.flatMap((name) => {
    const { certificate, key } = authorityPaths(name);
    return [certificate, key].map((path) => [`host${path}`, `that of ${name}`]);
  }),
);

/** An installed host with another name, and a backup of the lost one. */
async function newHost(t: Test, files: Readonly<Record<string, string>> = EVERY_AUTHORITY) {
  const { to, identity } = await portableBackup(t, undefined, files);
  const host = testHost(t);
  await saveRenderInput(host.paths, { ...input, host: { ...input.host, hostname: 'edge-2' } });
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', '{"backupMinFreeMiB":0.001}');
  host.write(host.paths.record, '{}');
  host.write('/key.txt', identity, 0o600);
  const said: string[] = [];
  host.programs.give('systemctl', 'exit 0');
  const restore = (more: Partial<NewHostOptions> = {}, isWaited = true) =>
    restoreOnNewHost(
      host.paths,
      {
        ...{ backup: to, identity: host.at('/key.txt'), author: BY_HOST },
        ...{ keepsAuthorities: false, isConfirmed: true, isWaited, ...more },
      },
      (text) => void said.push(text),
    );
  return { host, said, restore };
}

t.test('what is asked of the unit, and what a person is told', async (t) => {
  const { host, said, restore } = await newHost(t);
  const folder = '/var/lib/sno-agents/sno-identity';
  const ends = `cd "$ROOT${folder}" && [ "$1" = start ] && cp request.json started.json && mv request.json last.json; exit 0`;
  host.programs.give('systemctl', ends);
  await restore();
  const request = host.read(`${folder}/started.json`);
  t.match(JSON.parse(request), {
    backup: NAME,
    from: { hostname: 'edge-0' },
    to: { hostname: 'edge-2' },
  });
  t.notMatch(request, 'keepsAuthorities');
  t.strictSame(host.programs.calls('systemctl start'), ['systemctl start sno-identity.service']);
  t.match(
    said[0],
    /^The backup of edge-0 of 2030-01-02\S+ \(revision 70\) is complete\.\n.*edge-2/,
  );
  t.notMatch(said[0], /authorities of the lost host are kept|Nothing shows who made/);
  t.match(said[1], /continues without this command\. "sno-identity status"/);
  t.equal(said[2], `${NAME} is restored.\n`);
  t.strictSame(readdirSync(host.at(BACKUPS)), [NAME]);
});

t.test('with the authorities of the lost host, by whomever', async (t) => {
  const { host, said, restore } = await newHost(t);
  const author = { kind: 'accepted', clusterId: cluster.clusterId } as const;
  t.match(await thrownBy(restore({ keepsAuthorities: true, author })), {
    kind: 'retry',
    message: /the restore has not ended.*sno-identity status/,
  });
  t.match(await identityChange.read(host.paths), { keepsAuthorities: true });
  t.match(said[0], /authorities of the lost host are kept[\s\S]*Nothing shows who made/);
  t.equal(said.length, 2, 'it does not say that it is restored');
  t.match(await thrownBy(restore()), { kind: 'usage', message: /another name, address or domain/ });
  t.equal(said.length, 2, 'before the backup is read');
});

t.test('a person is asked once it is said what is lost', async (t) => {
  const { host, said, restore } = await newHost(t);
  t.match(await thrownBy(restore({ isConfirmed: false })), { message: /was not confirmed/ });
  t.match(said, [/Everything that is in this new cluster will be lost/]);
  t.equal(await identityChange.read(host.paths), undefined);
});

t.test('an earlier restore that ended is not this one', async (t) => {
  const { host, restore } = await newHost(t);
  await thrownBy(restore());
  host.write(recordPath(host.paths, 'identity'), host.read(identityChange.requestPath(host.paths)));
  host.remove(identityChange.requestPath(host.paths));
  t.match(await thrownBy(restore()), { message: /the restore has not ended/ });
});

t.test('nobody has to wait', async (t) => {
  const { host, said, restore } = await newHost(t);
  await restore({}, false);
  t.strictSame(host.programs.calls(), ['systemctl start --no-block sno-identity.service']);
  t.match(said.at(-1), /continues without this command/);
  t.match(await identityChange.read(host.paths), { backup: NAME });
});

t.test('refused before anything is asked of the unit', async (t) => {
  const { host, restore } = await newHost(t, { [KEY_FILE]: KEY });
  const refused = async (says: RegExp, ...more: Parameters<typeof restore>) => {
    t.match(await thrownBy(restore(...more)), { kind: 'usage', message: says });
    t.strictSame(host.programs.calls('systemctl'), [], `${says}`);
    t.equal(await identityChange.read(host.paths), undefined, `${says}`);
  };
  await refused(
    /does not have all authorities of its host; found no \S+\/ca\.crt, .*without --keep-authorities/,
    { keepsAuthorities: true },
  );
  await refused(/was not confirmed/, { isConfirmed: false });
  // A pipe into which nobody writes would be waited for.
  await refused(/--backup \S+null is not a regular file/, { backup: '/dev/null' });
  host.remove(host.paths.record);
  host.remove(BACKUPS);
  await refused(/the installation is not complete/);
  t.notOk(host.has(BACKUPS), 'not even the backup was copied');
});
