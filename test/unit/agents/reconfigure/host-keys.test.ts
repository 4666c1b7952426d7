/** The keys of the host's sshd: others at each site, unless it keeps them, and those of before after a way back. */
import t, { type Test } from 'tap';
import { placeSiteFiles } from '../../../../agents/reconfigure/files.ts';
import { hasOwnHostKeys, renewHostKeys } from '../../../../agents/reconfigure/host-keys.ts';
import { touchedFiles } from '../../../../agents/reconfigure/touched.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { keptHost } from './kept-host.ts';
import { arrived, SITE, STATE } from './site-host.ts';

const key = (type: string) => `/etc/ssh/ssh_host_${type}_key`;
const PRESENT = ['rsa', 'ed25519'];

/** What the running sshd has read. */
const READ = '/read-by-sshd';

/** Each key is another one, and in the place of none: ssh-keygen asks whether to overwrite. */
const KEYGEN = `case "$*" in "-q -t "*" -N  -C  -f "*) ;; *) exit 97 ;; esac
for file; do :; done
[ ! -e "$file" ] || exit 1
cat /proc/sys/kernel/random/uuid > "$file"
echo "public $3 of $(cat "$file")" > "$file.pub"`;

function withKeys(host: TestHost, types = PRESENT): void {
  for (const type of types) {
    host.write(key(type), `the ${type} key of the factory`, 0o640);
    host.write(`${key(type)}.pub`, `public ${type} of the factory`, 0o644);
  }
  host.programs.give('ssh-keygen', KEYGEN);
  host.programs.give(
    'systemctl',
    'case "$*" in "show sshd.service "*) echo ActiveState=active ;; show*) echo ActiveState=inactive ;; esac',
  );
}

async function atSite(t: Test, config = SITE) {
  const it = await arrived(t, { config });
  withKeys(it.host);
  return it;
}

t.test('others of the same types, once for each request', async (t) => {
  const { host, context, run, holds } = await atSite(t);
  const kept = await touchedFiles(context);
  for (const type of PRESENT) {
    t.ok(kept.includes(key(type)) && kept.includes(`${key(type)}.pub`), 'the way back has them');
  }
  t.equal(await holds(placeSiteFiles), false);
  await run(placeSiteFiles);
  t.equal(await holds(placeSiteFiles), true);
  for (const type of PRESENT) {
    t.notMatch(host.read(key(type)), 'factory');
    t.equal(host.read(`${key(type)}.pub`), `public ${type} of ${host.read(key(type))}`);
    t.same([host.mode(key(type)), host.mode(`${key(type)}.pub`)], [0o600, 0o644]);
  }
  t.notOk(host.has(key('ecdsa')), 'what the host had not');
  t.notOk(host.has(`${STATE}/host-keys`), 'no other copy of them');
  t.same(host.programs.calls('systemctl reload'), ['systemctl reload sshd.service']);
  t.notOk(host.has(`${STATE}/host-keys`), 'no second copy of a key stays');
  const first = host.read(key('rsa'));
  await run(placeSiteFiles);
  t.equal(host.read(key('rsa')), first, 'not again');
  const next = { ...context, request: { ...context.request, id: 'another' } };
  t.equal(await placeSiteFiles.holds(next, host.progress()), false, 'at the next site');
});

t.test('keepHostKeys: the site knows them', async (t) => {
  const { host, context, run, holds } = await atSite(t, `${SITE}keepHostKeys: true\n`);
  t.notOk((await touchedFiles(context)).includes(key('rsa')));
  await run(placeSiteFiles);
  t.equal(await holds(placeSiteFiles), true);
  t.match(host.read(key('rsa')), 'of the factory');
  t.same(host.programs.calls('ssh-keygen'), []);
});

t.test('a host without keys needs no program', async (t) => {
  const { host, run, holds } = await arrived(t);
  await run(placeSiteFiles);
  t.equal(await holds(placeSiteFiles), true);
  t.same(host.programs.calls('ssh-keygen'), []);
});

t.test('whoever is killed leaves a whole pair in the end', async (t) => {
  const { host, context, keep, again } = await keptHost(t, SITE);
  withKeys(host, ['ed25519']);
  const own = key('ed25519');
  host.write(READ, host.read(own));
  host.programs.give(
    'systemctl',
    `case "$*" in show*) echo ActiveState=active ;; "reload sshd.service") cp "$ROOT${own}" "$ROOT${READ}" ;; esac`,
  );
  keep();
  await killedAtAnyMoment(t, {
    isConcurrent: true,
    prepare: again,
    run: () => renewHostKeys(context, AbortSignal.timeout(60_000)),
    async allowed(_, when) {
      t.ok(host.has(own), `${when}: sshd has a key`);
      if (when.startsWith('power cut')) host.write(READ, host.read(own));
    },
    result: async () => ({
      isDone: await hasOwnHostKeys(context),
      isPair: host.read(`${own}.pub`) === `public ed25519 of ${host.read(own)}`,
      isOfFactory: host.read(own).includes('factory'),
      isRead: host.read(READ) === host.read(own),
    }),
    least: 10,
    isDurable: true,
  });
});
