/** The report of a node, as a real kube-apiserver takes it: server-side apply, rights and a policy. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { collect, digestOf } from '../../../agents/upkeep/report/collect.ts';
import { reportContext } from '../../../agents/upkeep/report/context.ts';
import { sendNewest } from '../../../agents/upkeep/report/send-newest.ts';
import { readState, writeState } from '../../../agents/upkeep/report/state.ts';
import { readStatuses } from '../../../agents/upkeep/report/statuses.ts';
import { eventually } from '../../../lab/eventually.ts';
import { startControlPlane } from '../../../lab/servers/control-plane.ts';
import { identityOf } from '../../../lib/change/identity/identity.ts';
import { readWanted } from '../../../lib/change/update/wanted.ts';
import { applyManifests } from '../../../lib/clients/kube/apply.ts';
import { failedRows } from '../../../lib/clients/kube/apply-table.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import { objectSchema, type Resource } from '../../../lib/clients/kube/resources.ts';
import { API_VERSION, SITES_GROUP, siteUser } from '../../../lib/engine/report/site-status.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { input } from '../../unit/render/rendered-host.ts';

const signal = AbortSignal.timeout(110_000);
const limits = { signal, deadlineMs: 20_000 };
const controlPlane = await startControlPlane(join(t.testdir({}), 'hub'), signal);
t.teardown(() => controlPlane.stop());
const client = await controlPlane.client();
t.teardown(() => client[Symbol.dispose]());

const sites: Resource = { apiVersion: API_VERSION, plural: 'sites', schema: objectSchema };
const DEPLOY = join(import.meta.dirname, '../../../deploy/fleet');
const site = (name: string) => ({
  ...{ apiVersion: API_VERSION, kind: 'Site', metadata: { name, namespace: 'default' } },
  spec: { action: 'relocate', serial: 1 },
});
const place = (name: string) => ({ namespace: 'default', name });

/** A node that reports to the Site of that name, as the node of another one if that is said. */
async function node(name: string, as = name, uid?: string) {
  const host = testHost(t, { programs: 'real' });
  const user = { name: siteUser('default', as), groups: [SITES_GROUP] };
  const { certificate, key, ca, server } = await controlPlane.access(user);
  const hub = {
    ...{ server: server.href, certificateAuthority: ca, certificate, key },
    ...{ namespace: 'default', name, ...(uid && { uid }) },
  };
  const to = { apiVersion: 'sno-agents/v1', kind: 'ReportTo', hub };
  host.write('/etc/sno-agents/report-to.json', JSON.stringify(to), 0o600);
  const context = await reportContext(host.paths);
  const { paths } = host;
  return {
    host,
    send: async () => {
      const collected = await collect(paths, await readStatuses(paths));
      const sent = await sendNewest({ ...context, proxy: undefined }, collected, limits);
      // The next one is sent, whatever became of this one.
      const { refused: _, accepted: __, ...state } = await readState(paths, context.target);
      await writeState(paths, state);
      return sent;
    },
    /** As long as nothing is new. */
    ask: async () => {
      const collected = await collect(paths, await readStatuses(paths));
      const report = { ...collected, sequence: 1, at: new Date().toISOString() };
      const accepted = { at: report.at, digest: digestOf(collected), report };
      const state = await readState(paths, context.target);
      await writeState(paths, { ...state, accepted });
      return sendNewest({ ...context, proxy: undefined }, collected, limits);
    },
    set: async (more: object) =>
      writeState(paths, { ...(await readState(paths, context.target)), ...more }),
  };
}

/** The API server takes up definitions and policies a little later. */
const SOON_MS = 60_000;

const failing = (updated: string) =>
  JSON.stringify({
    ...{ schemaVersion: 1, version: '1', agent: 'reconfigure', unit: 'reconfigure' },
    ...{ state: 'failed', exitCode: 2, updated },
    failure: { code: 'site-link', kind: 'usage', what: 'no link on eno1', fix: 'Check the cable.' },
  });

t.test('a hub takes the reports of a node, and of no other', async (t) => {
  const files = ['crd', 'node-access'].map((name) =>
    readFileSync(join(DEPLOY, `${name}.yaml`), 'utf8'),
  );
  const { manifests } = decodeManifests('deploy', files.join('\n---\n'));
  const options = { ...limits, concurrency: 1, report: () => undefined };
  t.same(failedRows(await applyManifests(client, { manifests, faults: [] }, options)), []);
  const create = (name: string) =>
    client.create(sites, { namespace: 'default' }, site(name), limits);
  await eventually(() => create('berlin'), SOON_MS, signal);
  await create('paris');

  const stranger = await node('berlin', 'paris');
  const isRefused = async () => {
    const { kind } = await stranger.send();
    if (kind !== 'refused') throw new Error(`the report of a stranger was ${kind}`);
  };
  await eventually(isRefused, SOON_MS, signal);
  t.match(await stranger.send(), {
    kind: 'refused',
    why: /certificate is not that of Site berlin/,
  });

  const berlin = await node('berlin');
  const at = '2030-01-01T12:00:00.000Z';
  berlin.host.write('/run/sno-agents/reconfigure/status.json', failing(at));
  // What the hub owns stays.
  const rendered = { type: 'Rendered', status: 'True', reason: 'Volume', message: '' };
  const before = await client.get(sites, place('berlin'), limits);
  await client.json(
    {
      method: 'PUT',
      path: `/apis/${API_VERSION}/namespaces/default/sites/berlin/status`,
      body: { ...before, status: { conditions: [{ ...rendered, lastTransitionTime: at }] } },
    },
    limits,
  );
  t.match(await berlin.send(), { kind: 'accepted' });
  const after = await client.get(sites, place('berlin'), limits);
  t.match(after, {
    status: {
      conditions: [
        { type: 'Rendered' },
        { type: 'Started', status: 'True', reason: 'relocate' },
        { type: 'Completed', status: 'False', reason: 'site-link' },
        {
          type: 'Failed',
          status: 'True',
          reason: 'site-link',
          message: 'no link on eno1. Check the cable. Nothing was changed.',
        },
      ],
      report: { changes: [{ change: 'relocate', state: 'refused', code: 'site-link' }] },
    },
  });

  t.test('after a clock that was ahead, and a lost disk, it counts on', async (t) => {
    await berlin.set({ sequence: 4_000_000_000 });
    t.match(await berlin.send(), { kind: 'accepted' });
    const replaced = await node('berlin');
    t.match(await replaced.send(), { kind: 'accepted' });
    t.match(await client.get(sites, place('berlin'), limits), {
      status: { report: { sequence: 4_000_000_002 } },
    });
  });

  t.test(
    'the answer says what the Site wants: an update is handed over, and judged there',
    async (t) => {
      const rome = { ...site('rome'), spec: { action: 'relocate', serial: 1 } };
      await client.create(sites, { namespace: 'default' }, rome, limits);
      const it = await node('rome');
      const { paths } = it.host;
      const wants = (spec: object) =>
        client.json(
          {
            method: 'PATCH',
            path: `/apis/${API_VERSION}/namespaces/default/sites/rome`,
            contentType: 'application/merge-patch+json',
            body: { spec },
          },
          limits,
        );
      it.host.write('/run/sno-agents/reconfigure/status.json', failing(at));
      t.match(await it.send(), { kind: 'accepted' });
      t.equal(await readWanted(paths), undefined);
      const before = await client.get(sites, place('rome'), limits);

      const update = { url: 'https://updates.example.com/1', serial: 170 };
      await wants({ action: 'update', serial: 2, update });
      t.same(await it.ask(), { kind: 'known' });
      t.equal(await readWanted(paths), undefined, 'it has asked a moment ago');
      await it.set({ site: { askedAt: at } });
      t.same(await it.ask(), { kind: 'known' });
      t.match(await readWanted(paths), {
        site: 'default/rome',
        serial: 2,
        url: update.url,
        update: 170,
      });
      const after = await client.get(sites, place('rome'), limits);
      t.same(after.status, before.status, 'and the hub keeps nothing of the question');
    },
  );

  t.test('what it did for an earlier serial is no condition of a later one', async (t) => {
    const { spec: _, ...paris } = site('paris');
    await client.json(
      {
        method: 'PATCH',
        path: `/apis/${API_VERSION}/namespaces/default/sites/paris`,
        contentType: 'application/merge-patch+json',
        body: { ...paris, spec: { serial: 4 } },
      },
      limits,
    );
    const it = await node('paris');
    const of = { serial: 3, sha256: 'a' };
    const ended = { schemaVersion: 1, id: randomUUID(), at, endedAt: at, outcome: 'configured' };
    const record = { ...ended, volume: of, from: identityOf(input) };
    it.host.write('/var/lib/sno-agents/reconfigure/result.json', JSON.stringify(record));
    t.match(await it.send(), { kind: 'accepted' });
    const { status } = await client.get(sites, place('paris'), limits);
    t.match(status, { report: { changes: [{ change: 'relocate', state: 'done', serial: 3 }] } });
    const said = { status: 'False', reason: 'NotReported' };
    t.match(status, { conditions: [said, said, said] });
  });

  t.test('not for another Site of the same name', async (t) => {
    const { status: before } = await client.get(sites, place('berlin'), limits);
    const former = await node('berlin', 'berlin', '01234567-89ab-4cde-8f01-23456789abcd');
    t.match(await former.send(), { kind: 'refused', why: /another Site that had this name/ });
    t.same((await client.get(sites, place('berlin'), limits)).status, before);
  });

  t.test('without its Site, a node is refused', async (t) => {
    const nobody = await node('nowhere');
    t.match(await nobody.send(), { kind: 'refused', why: /status 40[34]/ });
  });
});
