import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { RESTORE_FOLDER, SNAPSHOT_FILE } from '../../lib/cluster/installation/snapshot-record.ts';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { parseConfig } from '../../lib/render/ignition/config.ts';
import { effectiveConfig } from '../../lib/render/ignition/validate.ts';
import type { DiskCheck } from '../checks/check.ts';

/** Steps of bootkube whose notes prove what they did, with what each must say. */
const proofs: readonly (readonly [step: string, says: RegExp])[] = [
  ['payload', /^OpenShift 4\.21\.0, \d+ images$/],
  ['render', /^\d+ files, \d+ manifests$/],
  ['etcd', /^version 3\./],
  ['manifests', /^\d+ created, \d+ existed$/],
  ['snapshot', /^revision \d+, \d+ KiB$/],
  ['master-ignition', /^fetched from https:\/\/api-int\.[\w.]+:22623\/config\/master$/],
  ['combined-ignition', /^\d+ KiB$/],
  ['finish', /^$/],
];

/** What the steps of the live host say that they did, by the journal of bootkube. */
export async function requireLiveSteps(journal: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readJournal(journal);
  const notes = new Map<string, string>();
  for (const [step, says] of proofs) {
    const done = entries.findLast((entry) => entry.step === step && entry.event === 'done');
    const note = done === undefined ? 'not done' : (done.note ?? '');
    if (!says.test(note)) {
      throw new Failure('fatal', `the step ${step} did something else`, {
        expected: String(says),
        found: note,
      });
    }
    notes.set(step, note);
  }
  requireAllApplied(notes);
  return notes;
}

/**
 * Rendered are files, created are objects, and a file can have several. Manifests of the user's would be
 * counted among those of the release.
 */
function requireAllApplied(notes: ReadonlyMap<string, string>): void {
  const numbers = (step: string) => (notes.get(step)?.match(/\d+/g) ?? []).map(Number);
  const [, rendered = Number.POSITIVE_INFINITY] = numbers('render');
  const [created = 0, existed = 0] = numbers('manifests');
  if (created + existed >= rendered) return;
  throw new Failure('fatal', 'manifests were not applied', {
    expected: `${rendered} manifests or more`,
    found: `${created} created, ${existed} existed`,
  });
}

const { state, staticPods } = hostPaths();

/** Of the installed host: files of the machine-config server's, and what the bootstrap passes on. */
const carried = [
  '/etc/mcs-machine-config-content.json',
  '/etc/ignition-machine-config-encapsulated.json',
  '/etc/kubernetes/kubelet.conf',
  join(state, RESTORE_FOLDER, SNAPSHOT_FILE),
  ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) =>
    join(staticPods, `${name}-pod.yaml`),
  ),
  '/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml',
  '/etc/kubernetes/bootstrap-secrets/kubeconfig',
];

/** The config that coreos-installer left on the boot partition has both parts. */
export const combinedIgnition: DiskCheck = {
  name: "the Ignition config has the machine-config server's files and the bootstrap's",
  run: async ({ boot }) => {
    const path = join(boot, 'ignition/config.ign');
    const { config } = effectiveConfig(parseConfig(await readFile(path, 'utf8'), path));
    const paths = (config.storage?.files ?? []).map((file) => file.path);
    const missing = carried.filter((each) => !paths.includes(each));
    if (missing.length === 0) return;
    throw new Failure('fatal', 'the Ignition config on the disk is not complete', {
      expected: missing.join(', '),
    });
  },
};
