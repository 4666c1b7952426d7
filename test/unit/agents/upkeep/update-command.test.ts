/** What `sno-update run --from` says of an update that was asked for before, and how it ends. */

import t, { type Test } from 'tap';
import { runUpdate } from '../../../../agents/upkeep/update/main.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import { writeWanted } from '../../../../lib/change/update/wanted.ts';
import { hostArchitecture } from '../../../../lib/host/architecture.ts';
import { listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { SOURCE, STATE, updating } from './updating-host.ts';

const UNIT = 'sno-update.service';

/** A host whose request another call has written; `unit`: what systemctl does. */
async function requestedHost(t: Test) {
  const { host, context } = await updating(t);
  host.programs.give('systemctl', 'exit 0');
  const errors: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => errors.push(text) > 0);
  const run = async (...args: string[]) => {
    const printed: string[] = [];
    const write = (text: string) => void printed.push(text);
    const code = await runUpdate(host.paths, ['run', ...args], { write });
    return { code, printed: printed.join(''), errors: errors.splice(0).join('') };
  };
  const endsAs = (outcome: string, more: object = {}) => {
    // An update ends once: the result of the one before would count, were it seen first.
    if (host.has(`${STATE}/result.json`)) host.remove(`${STATE}/result.json`);
    const ended = { endedAt: '2030-01-03T00:00:00Z', outcome, ...more };
    host.write('/result.json', JSON.stringify({ ...context.request, ...ended }));
    host.programs.give('systemctl', `cp "$ROOT/result.json" "$ROOT${STATE}/result.json"; exit 1`);
  };
  return { host, context, run, endsAs, from: context.request.from };
}

t.test('its help says how to ask for an update', async (t) => {
  const { run } = await requestedHost(t);
  const help: string[] = [];
  t.capture(process.stdout, 'write', (text: string) => help.push(text) > 0);
  t.match(await run('--help'), { code: 0 });
  t.match(help.join(''), /--from <folder-or-url>/);
  t.match(await run('--from'), { code: 2, errors: /--from/ });
});

t.test('it is continued by the unit, which is waited for', async (t) => {
  const { host, run, endsAs, from } = await requestedHost(t);
  t.match(await run('--from', from), {
    code: 1,
    printed:
      /^Continued: the update to sno-agents 1\.2\.3 .*\.\nIt also continues without this command\. "sno-update status" prints its state\.\n$/,
    errors: /the update has not ended.*sno-update status/,
  });
  t.strictSame(host.programs.calls('systemctl start'), [`systemctl start ${UNIT}`]);
  endsAs('updated');
  t.match(await run('--from', from), {
    code: 0,
    printed: /\nlast: the update to sno-agents 1\.2\.3 .* is in use, 2030-01-03T00:00:00Z\n$/,
  });
  const failure = { code: 'deadline', kind: 'deadline', what: 'it did not settle' };
  endsAs('reverted', { failure });
  t.match(await run('--from', from), {
    code: 4,
    errors: /was taken back; .*found it did not settle/,
  });
  endsAs('refused', { failure });
  t.match(await run('--from', from), { code: 4, errors: /failed before anything was changed/ });
  endsAs('updated', { failure });
  t.match(await run('--from', from), { code: 4, errors: /is in use, but still emulates/ });
  endsAs('updated', { id: '11111111-1111-4111-8111-111111111111' });
  t.match(await run('--from', from), { code: 1, errors: /has not ended/ }, 'that of another one');
});

t.test('what kept it from ending before counts for whoever continues it', async (t) => {
  const { host, run, from } = await requestedHost(t);
  const failure = { code: 'deadline', kind: 'deadline', what: 'it did not settle' };
  const status = {
    ...{ schemaVersion: 1, agent: 'sno-update', version: '1', unit: 'sno-update' },
    ...{ state: 'failed', failure, updated: '2020-01-01T00:00:00Z' },
  };
  host.write('/run/sno-agents/sno-update/status.json', JSON.stringify(status));
  t.match(await run('--from', from), { code: 3, errors: /has not ended.*it did not settle/ });
});

t.test('the unit is left out unless there is an update to be carried out', async (t) => {
  const { host } = await requestedHost(t);
  const takenUp = async () => {
    const printed: string[] = [];
    const write = (text: string) => void printed.push(text);
    return [await runUpdate(host.paths, ['take-up'], { write }), printed.join('')];
  };
  t.same(await takenUp(), [0, '']);
  await updateChange.remove(host.paths);
  t.same(await takenUp(), [1, '']);
  const asked = { schemaVersion: 1, site: 'berlin', serial: 4, update: 170 } as const;
  await writeWanted(host.paths, { ...asked, url: 'https://updates.example.com' });
  t.match(await takenUp(), [1, /^the update 170 from https:.* is refused: .*\n$/]);
});

t.test('nobody has to wait', async (t) => {
  const { host, run, from } = await requestedHost(t);
  t.match(await run('--from', from, '--no-wait'), { code: 0, errors: '' });
  t.strictSame(host.programs.calls('systemctl'), [`systemctl start --no-block ${UNIT}`]);
  host.programs.give('systemctl', 'exit 1');
  t.match(await run('--from', from, '--no-wait'), { code: 1, errors: /systemctl/ });
});

t.test('another one is not begun meanwhile', async (t) => {
  const { host, context, run } = await requestedHost(t);
  t.match(await run('--from', '/mnt/another'), {
    code: 2,
    printed: '',
    errors: /the update to sno-agents 1\.2\.3 .* is under way/,
  });
  t.same(await updateChange.read(host.paths), context.request);
  t.strictSame(host.programs.calls('systemctl'), []);
});

t.test('run --from is refused with exit code 2 while nothing can be updated', async (t) => {
  const host = testHost(t);
  host.write('/etc/sno-agents/cluster.json', '{}');
  t.equal(await runUpdate(host.paths, ['run', '--from', '/mnt/update']), 2);
  t.equal(await runUpdate(host.paths, ['run', '--no-wait']), 2, 'from where?');
  t.equal(await runUpdate(host.paths, ['run']), 2, 'nothing was requested');
  t.notOk(host.has(STATE.concat('/request.json')));
});

t.test('the status of a host that was never updated ends with its steps', async (t) => {
  const { host } = await updating(t);
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  t.equal(await runUpdate(host.paths, ['status'], { write }), 0);
  t.match(text, /\n {2}conclude +-\n$/);
  text = '';
  t.equal(await runUpdate(host.paths, ['status', '--json'], { write }), 0);
  t.match(JSON.parse(text), { last: null });
});

t.test('whoever knows that nothing uses the removed APIs says so', async (t) => {
  const asked: string[] = [];
  const { host, context } = await updating(t, {
    answers: {
      'GET /metrics': () => {
        asked.push('/metrics');
        return {};
      },
      'GET /api/v1/nodes': () => listOf(),
    },
  });
  await updateChange.remove(host.paths);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster), 0o600);
  host.write('/etc/sno-agents/allowed_signers', 'anybody');
  host.write('/var/lib/sno-agents/record.json', '{}');
  const { manifest } = context.request;
  const versions = { ...manifest.payload.versions, kubernetes: 'v1.35.0' };
  const architecture = hostArchitecture() ?? 'amd64';
  const next = { ...manifest, architecture, payload: { ...manifest.payload, versions } };
  host.write(`${SOURCE}/update.json`, JSON.stringify(next));
  host.write(`${SOURCE}/update.json.sig`, 'a signature');
  host.programs.give('ssh-keygen', "echo 'Good signature with ED25519 key SHA256:abc'");
  const run = (...more: string[]) =>
    runUpdate(host.paths, ['run', '--from', context.request.from, '--no-wait', ...more], {
      write: () => {},
    });
  t.equal(await run('--accept-removed-apis'), 0);
  t.match(await updateChange.read(host.paths), { manifest: next, signedBy: 'SHA256:abc' });
  t.same(asked, []);
  await updateChange.remove(host.paths);
  t.equal(await run(), 0);
  t.same(asked, ['/metrics'], 'otherwise the API server is asked');
});
