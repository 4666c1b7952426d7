/** A rotation that is killed in every phase, and continues. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { concludeRotation } from '../../agents/upkeep/rotate/conclude.ts';
import type { RotateContext } from '../../agents/upkeep/rotate/context.ts';
import { overlap } from '../../agents/upkeep/rotate/overlap.ts';
import { trustBoth, trustNew, useNew } from '../../agents/upkeep/rotate/phases.ts';
import { stageRotation } from '../../agents/upkeep/rotate/stage.ts';
import { issueLeaf } from '../../lab/certificates/signed-now.ts';
import { rotationFolder } from '../../lib/change/rotation/request.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { inspectCertificate, isIssuedBy } from '../../lib/pki/certificate.ts';
import {
  authorityNames,
  authorityPaths,
  laptopAdminCa,
} from '../../lib/render/kubernetes/authorities.ts';
import { rotatableLeaves } from '../../lib/render/kubernetes/leaves.ts';
import { trustFiles } from '../../lib/render/kubernetes/trust.ts';
import { authorities } from '../unit/render/rendered-host.ts';
import { rotatingHost } from './control-plane/rotating-host.ts';

const root = await mkdtemp(join(tmpdir(), 'rotation-'));
t.teardown(() => rm(root, { recursive: true, force: true }));
const it = await rotatingHost(t, root);
const { world, paths, keeper } = it;

const read = (path: string) => readFile(paths.at(path), 'utf8');

/** Stops a phase in the middle, as a power cut does: its files are changed, and not yet proven. */
async function killedIn(step: StepBody<RotateContext>, context: RotateContext): Promise<unknown> {
  const undo = join(rotationFolder(paths), 'undo.json');
  const stop = new AbortController();
  const progress = it.progress(stop.signal, () => {
    if (existsSync(undo)) stop.abort(new Error('killed'));
  });
  return step.run(context, progress).catch((error: unknown) => error);
}

t.test('all other CAs, killed in every phase', async (t) => {
  keeper.restarts.length = 0;
  const subject = { commonName: 'system:admin', organizations: ['system:masters'] };
  const laptop = await issueLeaf(authorities.adminCa, { subject, usage: 'client' });
  const names = authorityNames.filter((name) => name !== 'serving');
  await it.request({ kind: 'authorities', names });
  await stageRotation.run(await it.context(), it.progress());
  for (const phase of [trustBoth, useNew, trustNew]) {
    t.match(await killedIn(phase, await it.context()), { message: 'killed' }, phase.name);
    t.equal(await phase.holds(await it.context(), it.progress()), false, phase.name);
    if (phase !== trustNew) {
      t.equal(await it.statusFor(world.approver), 201, 'then the old client');
      t.equal(await it.statusFor(laptop), 201, "and the laptop's administrator");
    }
    await phase.run(await it.context(), it.progress());
    t.equal(await phase.holds(await it.context(), it.progress()), true, phase.name);
  }
  await overlap.run(await it.context(), it.progress());
  await concludeRotation.run(await it.context(), it.progress());
  await it.hasEnded(t, ['etcd', 'kube-apiserver', 'kubelet']);
  t.equal(await it.statusFor(world.approver), 401, 'the old client');
  t.equal(await it.statusFor(world.node), 401, 'the old node');
  t.equal(await it.statusFor(laptop), 401, "the laptop's administrator");
  t.equal(existsSync(paths.at(laptopAdminCa)), false, 'which nothing trusts');
  for (const { path, authorities } of trustFiles) {
    const own = await Promise.all(
      authorities.map((name) => read(authorityPaths(name).certificate)),
    );
    const found = await read(path).catch(() => undefined);
    if (found !== undefined) t.equal(found, own.join(''), path);
  }
  for (const { name, certificate, key, authority } of rotatableLeaves) {
    if (name === 'deferred') continue;
    const pem = await read(certificate);
    t.ok(await isIssuedBy(pem, await read(authorityPaths(authority).certificate)), name);
    t.equal(await statusOf(authority, { certificate: pem, key: await read(key) }), true, name);
  }
});

/** Whether the API server knows a client of one of its authorities. */
async function statusOf(authority: string, caller: { certificate: string; key: string }) {
  const isClient = inspectCertificate(caller.certificate).clientAuth;
  if (!isClient || !['admin', 'kubelet-client'].includes(authority)) return true;
  return (await it.statusFor(caller)) === 201;
}
