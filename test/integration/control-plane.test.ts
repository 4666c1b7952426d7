/** Attacks on the rendered control plane, run with the commands of its static pods. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { apiServerAttacks } from './control-plane/api-server.ts';
import { auditLogTests } from './control-plane/audit.ts';
import { controllerAttacks } from './control-plane/controllers.ts';
import { editorAttacks } from './control-plane/editors.ts';
import { etcdAttacks } from './control-plane/etcd.ts';
import { flannelAttacks } from './control-plane/flannel.ts';
import { kubeletAttacks } from './control-plane/kubelets.ts';
import { nodeAttacks } from './control-plane/nodes.ts';
import { workerAttacks } from './control-plane/workers.ts';
import { startWorld } from './control-plane/world.ts';

// Not tap's own folder, which is deleted while the components still write to it.
const root = await mkdtemp(join(tmpdir(), 'control-plane-'));
let stop = async () => {};
t.teardown(async () => {
  await stop();
  await rm(root, { recursive: true, force: true });
});
const world = await startWorld(root);
stop = world.stop;

apiServerAttacks(world);
editorAttacks(world);
nodeAttacks(world);
workerAttacks(world);
flannelAttacks(world);
kubeletAttacks(world);
controllerAttacks(world);
etcdAttacks(world);
auditLogTests(world);
