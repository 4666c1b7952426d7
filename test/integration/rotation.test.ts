/** Rotations against the rendered control plane, whose components restart as static pods do. */
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readStaged, saveStaged } from '../../agents/steps/certificates/changes.ts';
import { trustBoth } from '../../agents/upkeep/rotate/phases.ts';
import { stageRotation } from '../../agents/upkeep/rotate/stage.ts';
import { rotationChange, rotationFolder } from '../../lib/change/rotation/request.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { namesIn } from '../../lib/host/files.ts';
import { certificatesIn, isIssuedBy } from '../../lib/pki/certificate.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { schedulerTrust } from '../../lib/render/kubernetes/kube-scheduler.ts';
import { issuedLeaves } from '../../lib/render/kubernetes/leaves.ts';
import { withSignedAdministrator } from '../../lib/render/signed-access.ts';
import { textAt } from '../unit/render/rendered-host.ts';
import { readinessThroughout } from './control-plane/readiness.ts';
import { rotatingHost } from './control-plane/rotating-host.ts';
import { eventually, NAMESPACE } from './control-plane/world.ts';

const root = await mkdtemp(join(tmpdir(), 'rotation-'));
t.teardown(() => rm(root, { recursive: true, force: true }));
const it = await rotatingHost(t, root);
const { world, paths, keeper } = it;

const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });
const read = (path: string) => readFile(paths.at(path), 'utf8');

t.test(
  'the CA of the API server: it is ready throughout, also for those who know the old one',
  async (t) => {
    const answers = await readinessThroughout(world, () =>
      it.rotate({ kind: 'authorities', names: ['serving'] }),
    );
    t.same(
      answers.filter((answer) => answer !== 200),
      [],
      `${answers.length} requests of /readyz`,
    );
    await it.hasEnded(t, ['kube-controller-manager', 'kube-scheduler', 'kubelet']);
    const presented = certificatesIn(await read(issuedLeaves.apiServerServing.certificate));
    t.equal(presented.length, 3, "the leaf, its CA by the old one, and that one by the medium's");
    const { certificate } = authorityPaths('serving');
    t.not(await read(certificate), textAt(certificate));
    t.ok(await isIssuedBy(presented[0] ?? '', await read(certificate)));
    const published = { namespace: NAMESPACE, name: 'kube-root-ca.crt' };
    const context = { remainingMs: () => 60_000 };
    await withSignedAdministrator('kubernetes', paths, context, async (client) => {
      await eventually('the publication of the new CA', async () => {
        const found = await client.find(resources.configMaps, published, limits());
        return found?.data?.['ca.crt'] === (await read(certificate)) || undefined;
      });
    });
    t.comment(`${answers.length} x /readyz`);
  },
);

const BROKEN = 'no certificate\n';
const STEP_MS = 240_000;

t.test('files with which a pod does not start come back, and the rotation ends', async (t) => {
  keeper.restarts.length = 0;
  const before = await read(schedulerTrust.api);
  const context = await it.request({ kind: 'authorities', names: ['serving'] });
  const settings = {
    ...context.settings,
    /** Of the pod that cannot start, the last one: nothing makes it ready, however long it is waited for. */
    get rotatePodMs() {
      const isBroken = readFileSync(paths.at(schedulerTrust.api), 'utf8') === BROKEN;
      return isBroken && keeper.restarts.includes('kube-controller-manager') ? 30_000 : STEP_MS;
    },
  };
  await stageRotation.run(context, it.progress());
  const staged = await readStaged(paths, context.request.id);
  if (staged === undefined) throw new Error('nothing was staged');
  const broken = staged.phases['trust-both'].map((change) =>
    change.path === schedulerTrust.api ? { ...change, contents: BROKEN } : change,
  );
  await saveStaged(paths, { ...staged, phases: { ...staged.phases, 'trust-both': broken } });
  await t.rejects(trustBoth.run({ ...context, settings }, it.progress()), {
    kind: 'fatal',
    code: 'rotation-rolled-back',
    cause: { message: /^kube-scheduler is not ready/ },
  });
  t.equal(await read(schedulerTrust.api), before);
  t.same(keeper.restarts.slice(-2), ['kube-controller-manager', 'kube-scheduler']);
  t.equal(await rotationChange.read(paths), undefined);
  t.same(await namesIn(rotationFolder(paths)), ['last.json'], 'no key is left');
});
