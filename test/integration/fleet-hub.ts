import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { decodeManifests } from '../../lib/clients/kube/manifest-decoding.ts';
import { objectSchema, type Resource } from '../../lib/clients/kube/resources.ts';
import { API_VERSION } from '../../lib/engine/report/site-status.ts';

export const root = join(import.meta.dirname, '..', '..');
export const namespace = 'sno-fleet';
export const sites: Resource = { apiVersion: API_VERSION, plural: 'sites', schema: objectSchema };

/** A real API server as the hub of a fleet, without anything of it. */
export async function startHub(t: Test) {
  const { signal } = new AbortController();
  const folder = t.testdir();
  const controlPlane = await startControlPlane(join(folder, 'control-plane'), signal);
  t.teardown(() => controlPlane.stop());
  const admin = await controlPlane.client();
  t.teardown(() => admin[Symbol.dispose]());
  const person = { name: 'test-admin', groups: ['system:masters'] };
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, await controlPlane.kubeconfig(person));
  /** Objects in YAML, as they are. */
  const applied = async (name: string, text: string) => {
    const { manifests } = decodeManifests(name, text);
    const options = { signal, deadlineMs: 30_000, concurrency: 8, report: () => {} };
    return applyManifests(admin, { manifests, faults: [] }, options);
  };
  const limits = { signal, deadlineMs: 20_000 };
  return { folder, controlPlane, admin, kubeconfig, applied, limits };
}
