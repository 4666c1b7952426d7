/** Attacks on the policy for certificates, by requests that a real API server accepts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { WORKER_APPROVER } from '../../lib/clients/rights/workers.ts';
import { approveServingRequests } from '../../lib/cluster/csr/approver.ts';
import type { Decision } from '../../lib/cluster/csr/decision.ts';
import { judge, type OwnView, ownRules } from '../../lib/cluster/csr/judge.ts';
import { signingRequestOf } from '../../lib/cluster/csr/signing-request.ts';
import { approveWorkerRenewals } from '../../lib/cluster/csr/worker-renewals.ts';
import type { AllowedMember } from '../../lib/cluster/workers/entry.ts';
import { craftedPem } from '../unit/cluster/csr/crafted-request.ts';
import { ADDRESS, honest, hostileCases, OWN, REFUSED_BY_SERVER } from './csr/hostile-cases.ts';
import { eventually, isApproved, startCsrWorld } from './csr/world.ts';

const FLOOD = 500;
const PER_SECOND = 20;
/** Watches expire again and again meanwhile. */
const WATCH_SECONDS = 3;
const HOUR_MS = 3_600_000;

// Not tap's own folder, which is deleted while the servers still write to it.
const root = await mkdtemp(join(tmpdir(), 'csr-hostile-'));
const world = await startCsrWorld(
  root,
  { nodeName: OWN, address: ADDRESS },
  { lifetimeMs: 400_000 },
);
const { submit, host } = world;
const decisions: Decision[] = [];
const stop = new AbortController();
const client = new KubeClient(world.approver, WATCH_SECONDS);
t.teardown(async () => {
  stop.abort(new Error('the test has ended'));
  client[Symbol.dispose]();
  await world.stop();
  await rm(root, { recursive: true, force: true });
});
const approving = approveServingRequests(client, {
  signal: stop.signal,
  nodeName: OWN,
  host: async () => host,
  report: (decision) => decisions.push(decision),
});
approving.catch(() => {});

const approved = async (name: string) =>
  eventually(`the approval of ${name}`, async () =>
    isApproved(await world.read(name)) ? true : undefined,
  );
/** A bootstrapper asks for the certificate that makes it this host's node. */
const firstOfThisNode = {
  pem: craftedPem(OWN, ADDRESS, { names: null }),
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
};
const names = new Map<string, string>();

t.test('before the node exists, nothing is approved; afterwards its own request', async (t) => {
  t.equal(await submit({ kind: 'token' }, 'token-before', firstOfThisNode), 201);
  t.equal(await submit({ kind: 'kubelet' }, 'early', honest()), 201);
  await eventually('a decision', async () =>
    decisions.find(
      ({ request, judgement }) =>
        request === 'early' && 'rule' in judgement && judgement.rule === 'node-addresses',
    ),
  );
  t.equal(await submit({ kind: 'token' }, 'token-while', firstOfThisNode), 201);
  await world.register(ADDRESS);
  t.ok(await approved('early'));
  t.equal(await submit({ kind: 'token' }, 'token-after', firstOfThisNode), 201);
});

t.test('no hostile request is approved', async (t) => {
  const refused: string[] = [];
  for (const [at, { title, by, rule: _, ...submission }] of hostileCases.entries()) {
    const name = `hostile-${at}`;
    const code = await submit(by, name, submission);
    if (code === 201) names.set(name, title);
    else refused.push(title);
  }
  t.same(refused, REFUSED_BY_SERVER, 'what the API server itself refuses');
  t.ok(names.size >= 60, `${names.size} requests are accepted by the API server`);
  t.equal(await submit({ kind: 'kubelet' }, 'denied', honest()), 201);
  t.ok(await approved('denied'), 'an honest one after all of them');
  for (const request of await world.all()) {
    const { name } = request.metadata;
    const title = names.get(name) ?? name;
    t.equal(isApproved(request), ['early', 'denied'].includes(name), title);
  }
});

t.test('each rule is needed', async (t) => {
  const view: OwnView = { host, node: { name: OWN, internalIps: [ADDRESS] } };
  const elsewhere: OwnView = { host, node: { name: OWN, internalIps: ['198.51.100.1'] } };
  const unnamed: OwnView = { ...view, host: { ...host, staticHostName: 'localhost' } };
  const now = new Date();
  const requests = await world.all();
  const of = (name: string) => {
    const request = requests.find(({ metadata }) => metadata.name === name);
    if (request === undefined) throw new Error(`no request ${name}`);
    return signingRequestOf(request);
  };
  const caseAt = (title: string) =>
    `hostile-${hostileCases.findIndex((each) => each.title === title)}`;
  /** Every request with what it is compared with: some are hostile only at another time or on another host. */
  const all = [
    ...[...names.keys()].map((name) => ({ name, csr: of(name), view, now })),
    ...['token-before', 'token-while', 'token-after'].map((name) => ({
      name,
      csr: of(name),
      view,
      now,
    })),
    { name: 'decided', csr: of('denied'), view, now },
    { name: 'no address', csr: of(caseAt('no address')), view: elsewhere, now },
  ];
  t.equal(await submit({ kind: 'kubelet' }, 'late', honest()), 201);
  const late = signingRequestOf({ ...(await world.read('late')), status: {} });
  all.push(
    { name: 'late', csr: late, view, now: new Date(now.getTime() + 2 * HOUR_MS) },
    { name: 'no host name', csr: late, view: unnamed, now },
  );
  for (const { name, csr, view, now } of all) {
    const judgement = judge(csr, view, now);
    t.equal(judgement.verdict, 'leave', name);
    const at = Number(/^hostile-(\d+)$/.exec(name)?.[1] ?? Number.NaN);
    const rule = view === elsewhere ? undefined : hostileCases[at]?.rule;
    if (rule !== undefined) t.match(judgement, { rule }, names.get(name) ?? name);
  }
  for (const [rule] of [...ownRules.outer, ...ownRules.inner]) {
    const rules = {
      outer: ownRules.outer.filter(([name]) => name !== rule),
      inner: ownRules.inner.filter(([name]) => name !== rule),
    };
    const through = all.filter(
      ({ csr, view, now }) => judge(csr, view, now, rules).verdict === 'approve',
    );
    t.ok(through.length > 0, `without ${rule}: ${through.map(({ name }) => name).join(', ')}`);
  }
});

t.test(
  'a joined worker gets its next serving certificate without an entry, nobody else',
  async (t) => {
    const WORKER = 'worker-0';
    const OTHER = '192.0.2.41';
    const AT = '192.0.2.40';
    const renewal = (name = WORKER, address = AT) => ({
      ...honest(),
      pem: craftedPem(name, address),
    });
    const group = [WORKER_APPROVER];
    using approver = new KubeClient(
      await world.plane.access({ name: WORKER_APPROVER, groups: group }),
    );
    const nodeUid = await world.registerOther(WORKER, AT);
    const member: AllowedMember = {
      name: WORKER,
      nodeUid,
      addresses: [AT],
      expires: new Date(Date.now() + HOUR_MS),
    };
    const found: Decision[] = [];
    const look = (more: Partial<AllowedMember> = {}) =>
      approveWorkerRenewals(
        approver,
        { ownName: OWN, members: [{ ...member, ...more }] },
        { ...world.limits, report: (decision) => found.push(decision), serving: async () => {} },
      );
    const asWorker = { kind: 'impersonated', user: `system:node:${WORKER}` } as const;
    const nodes = ['system:nodes', 'system:authenticated'];
    const submissions = [
      // Where the API server itself refuses one, there is nothing to judge.
      [
        'w-token-client',
        { kind: 'token' },
        { ...firstOfThisNode, pem: craftedPem(WORKER, AT, { names: null }) },
      ],
      ['w-token-serving', { kind: 'token' }, renewal()],
      ['w-other-address', { kind: 'other-node' }, renewal(WORKER, OTHER)],
      ['w-as-control-plane', { kind: 'other-node' }, renewal(OWN, ADDRESS)],
      ['w-impersonated', { ...asWorker, groups: nodes }, renewal()],
      [
        'w-two-credentials',
        { ...asWorker, groups: ['system:masters'], credential: 'right' },
        renewal(),
      ],
      ['w-ten-years', { kind: 'other-node' }, { ...renewal(), expirationSeconds: 315_360_000 }],
      [
        'w-client-auth',
        { kind: 'other-node' },
        { ...renewal(), usages: ['digital signature', 'client auth'] },
      ],
    ] as const;
    const accepted: string[] = [];
    for (const [name, by, submission] of submissions) {
      if ((await submit(by, name, submission)) === 201) accepted.push(name);
    }
    t.ok(accepted.length >= 6, accepted.join(', '));
    const hostile = await look();
    t.same(hostile.served, []);
    t.ok(hostile.left.length > 0, 'those of the worker itself are reported');
    for (const name of accepted) t.notOk(isApproved(await world.read(name)), name);

    t.equal(await submit({ kind: 'other-node' }, 'w-right', renewal()), 201);
    for (const [why, more] of [
      ['whose last certificate has expired', { expires: new Date(Date.now() - 1000) }],
      ['that never joined', { name: 'worker-1' }],
      ['that was removed and registered again', { nodeUid: 'another' }],
      ['whose addresses were others', { addresses: [OTHER] }],
    ] as const) {
      t.same((await look(more)).served, [], `not of a worker ${why}`);
    }
    t.match((await look({ nodeUid: 'another' })).removed, [{ name: WORKER }]);
    t.notOk(isApproved(await world.read('w-right')));
    t.match(await look(), { served: [{ name: WORKER, nodeUid, addresses: [AT] }], left: [] });
    t.ok(isApproved(await world.read('w-right')));
    for (const name of accepted) t.notOk(isApproved(await world.read(name)), name);
  },
);

t.test(`${FLOOD} at ${PER_SECOND}/s, and a restart of the API`, async (t) => {
  const accepted = hostileCases.filter(({ title }) => !REFUSED_BY_SERVER.includes(title));
  const began = performance.now();
  const waits: Promise<number>[] = [];
  let sent = 0;
  const send = async (at: number) => {
    const next = accepted[at % accepted.length];
    if (next === undefined) throw new Error('there are no cases');
    const { by, title: _title, rule: _rule, ...submission } = next;
    await eventually(`request ${at}`, async () => {
      const code = await submit(by, `flood-${at}`, submission).catch(conflictIsFine);
      return code === undefined ? undefined : true;
    });
    sent += 1;
  };
  /** One that is right, and how long it is pending, in ms. */
  const sendHonest = async (at: number) => {
    const name = `honest-${at}`;
    await eventually(name, async () => {
      const code = await submit({ kind: 'kubelet' }, name, honest()).catch(conflictIsFine);
      return code === undefined ? undefined : true;
    });
    const since = performance.now();
    await approved(name);
    return performance.now() - since;
  };
  const flood: Promise<void>[] = [];
  let restart: Promise<void> | undefined;
  for (let at = 0; at < FLOOD; at++) {
    flood.push(send(at));
    if (at % PER_SECOND === 0) waits.push(sendHonest(at / PER_SECOND));
    if (at === FLOOD / 2) {
      restart = world.plane.stopApiServer().then(() => world.plane.startApiServer());
    }
    await sleep(Math.max(0, began + ((at + 1) * 1000) / PER_SECOND - performance.now()));
  }
  await Promise.all([...flood, restart]);
  const delays = await Promise.all(waits);
  t.equal(sent, FLOOD);
  const median = delays.toSorted((a, b) => a - b)[Math.floor(delays.length / 2)];
  t.comment(`${delays.length} honest ones: median ${median?.toFixed(0)} ms`);
  for (const request of await world.all()) {
    const { name } = request.metadata;
    const isHonest = /^(early|denied|late|w-right|honest-\d+)$/.test(name);
    if (isApproved(request) !== isHonest) t.fail(`${name} ${isHonest ? 'is left' : 'is approved'}`);
  }
  t.ok(decisions.length < FLOOD * 3, `${decisions.length} decisions are reported`);
});

/** After a restart, a request may exist already; while it lasts, nothing is answered. */
function conflictIsFine(error: unknown): number | undefined {
  return error instanceof Error && error.message.includes('AlreadyExists') ? 201 : undefined;
}
