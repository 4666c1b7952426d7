import { join } from 'node:path';
import t from 'tap';
import { journals, previousJournals } from '../../../../agents/gather/sources/journals.ts';
import { systemd } from '../../../../agents/gather/sources/systemd.ts';
import { hostAt, listed, read, textOf } from './host.ts';
import { withPrograms } from './programs.ts';

/** Output for a host with a failed unit and three boots; prints its arguments for all other calls. */
const JOURNALCTL = `case "$*" in
  *--list-boots*) cat <<END
 0 ${'c'.repeat(32)} Sun 2026-03-01 11:00:00 UTC—Sun 2026-03-01 12:00:00 UTC
-2 ${'a'.repeat(32)} Sun 2026-03-01 09:00:00 UTC—Sun 2026-03-01 10:00:00 UTC
-1 ${'b'.repeat(32)} Sun 2026-03-01 10:00:00 UTC—Sun 2026-03-01 11:00:00 UTC
END
  ;;
  *--field=*) echo sno-restore.service; echo cron.service ;;
  *--output=json*) printf '%s\\n' '{"MESSAGE":[27,91,49,109,98,97,100],"PRIORITY":"3"}' '{"MESSAGE":"worse","PRIORITY":"2"}' ;;
  *) echo "journalctl $* in $TZ" ;;
esac`;
const SYSTEMCTL = `case "$*" in
  *--plain*) cat <<END
kubelet.service  loaded active running Kubelet
broken.mount     loaded failed failed  Broken
END
  ;;
  *status*) echo "status $*"; exit 3 ;;
  *) echo "systemctl $*" ;;
esac`;
const OURS = 'control-plane/master';

t.test('journals of existing and failed units, in UTC', async (t) => {
  const root = t.testdir({});
  await withPrograms(t, join(root, 'bin'), { journalctl: JOURNALCTL, systemctl: SYSTEMCTL });
  const host = hostAt(root, root);
  const sources = await listed(journals, host);
  t.strictSame(
    [...sources.keys()].map((path) => path.replace(`${OURS}/`, '')),
    [
      'unit-status/broken.mount.log',
      'journals/broken.mount.log',
      'journals/kubelet.log',
      'journals/sno-restore.log',
      'journals/kernel.log',
      'journals/selinux-denials.log',
      'journals/errors.jsonl',
      'journals/previous-errors.jsonl',
      'journals/journal.log.gz',
    ],
  );
  const kubelet = await read(journals, host, `${OURS}/journals/kubelet.log`);
  t.match(
    kubelet,
    '--boot=cccccccccccccccccccccccccccccccc --lines=30000 --unit=kubelet.service in UTC',
  );
  t.match(kubelet, '--no-hostname --output=short-iso-precise');
  t.match(sources.get(`${OURS}/journals/journal.log.gz`), { phase: 'bulk', gzipped: true });
  t.equal(
    await read(journals, host, `${OURS}/journals/errors.jsonl`),
    '{"MESSAGE":"\\u001b[1mbad","PRIORITY":"3"}\n{"MESSAGE":"worse","PRIORITY":"2"}\n',
  );
});

t.test('only newer entries, if requested', async (t) => {
  const root = t.testdir({});
  await withPrograms(t, join(root, 'bin'), { journalctl: JOURNALCTL, systemctl: SYSTEMCTL });
  const host = hostAt(root, root, { sinceMs: Date.parse('2026-03-01T10:30:00.500Z') });
  const kernel = await read(journals, host, `${OURS}/journals/kernel.log`);
  t.match(kernel, ` --since=@${Date.parse('2026-03-01T10:30:00Z') / 1000} `);
  t.strictSame(
    [...(await listed(previousJournals, host)).keys()],
    [`${OURS}/journals/journal-1.log.gz`],
  );
});

t.test('earlier boots, the newest first', async (t) => {
  const root = t.testdir({});
  await withPrograms(t, join(root, 'bin'), { journalctl: JOURNALCTL, systemctl: SYSTEMCTL });
  const host = hostAt(root, root, { stage: 'live', folder: 'bootstrap' });
  const sources = [...(await listed(previousJournals, host)).values()];
  t.strictSame(
    sources.map(({ path }) => path),
    ['bootstrap/journals/journal-1.log.gz', 'bootstrap/journals/journal-2.log.gz'],
  );
  for (const [index, source] of sources.entries()) {
    t.match(await textOf(source, host), ` --boot=-${index + 1} `);
  }
});

t.test(
  'a failed unit is not a failure of gather, and its journal has the usual path',
  async (t) => {
    const root = t.testdir({});
    await withPrograms(t, join(root, 'bin'), { journalctl: JOURNALCTL, systemctl: SYSTEMCTL });
    const live = hostAt(root, root, { stage: 'live', folder: 'bootstrap' });
    t.match(await read(systemd, live, 'unit-status/broken.mount.txt'), 'status --full');
    t.match(await read(systemd, live, 'failed-units.txt'), '--state=failed');
    t.match(JSON.parse(await read(systemd, live, 'bootstrap/systemd/boots.json')), [
      { index: 0, first_entry: Date.parse('2026-03-01T11:00:00Z') * 1000 },
      { index: -1 },
      { index: -2 },
    ]);
    const installed = await listed(systemd, hostAt(root, root));
    t.ok(installed.has(`${OURS}/unit-status/broken.mount.txt`));
  },
);

t.test('without an answer from systemd the journals are still read', async (t) => {
  const root = t.testdir({});
  const silent = 'echo "Failed to connect to bus" >&2; exit 1';
  await withPrograms(t, join(root, 'bin'), { journalctl: JOURNALCTL, systemctl: silent });
  const sources = await listed(journals, hostAt(root, root));
  t.ok(sources.has(`${OURS}/journals/sno-restore.log`));
  await t.rejects(read(systemd, hostAt(root, root), `${OURS}/systemd/units.json`), {
    message: /systemctl failed; found exit code 1 \| Failed to connect to bus/,
  });
});
