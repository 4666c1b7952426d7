import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { DISK_VARIABLE } from '../../cli/install-config/disk-variable.ts';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { run } from '../../lib/host/command.ts';
import { ensureComponent } from '../components/component.ts';
import { RELEASE_IMAGE } from '../components/openshift/images.ts';
import { openshiftInstaller } from '../components/openshift/installer.ts';
import { IMAGE_DIGESTS, openshiftRegistry } from '../components/openshift/registry-storage.ts';
import { RELEASE_REGISTRY, referenceByDigest } from '../components/openshift/release.ts';
import { type CreatedInstallation, clusterConfig, createdIn } from '../install-config.ts';
import { cli } from '../paths.ts';
import { DISK } from '../site.ts';
import { sshPublicKey } from '../site-inputs.ts';
import { MIRROR } from './site-registry.ts';

const CREATE_MS = 180_000;
const COMMAND = ['create', 'single-node-ignition-config'];

const installConfig = (additionalTrustBundle: string) => ({
  ...clusterConfig(['IPv4']),
  bootstrapInPlace: { installationDisk: DISK },
  pullSecret: JSON.stringify({ auths: { 'registry.lab': { auth: 'bGFiOmxhYg==' } } }),
  // The installer makes a MachineConfig for each pool of it.
  sshKey: sshPublicKey(),
  imageDigestSources: [{ source: RELEASE_REGISTRY, mirrors: [MIRROR] }],
  additionalTrustBundle,
  additionalTrustBundlePolicy: 'Always',
});

export interface TakeOver {
  /** New folder for what openshift-install and `sno` write. */
  readonly folder: string;
  /** Where the live host fetches the agents' executable. */
  readonly agentsUrl: string;
  /** coreos-installer's arguments on the live host, including the disk. */
  readonly installer: string;
  /** Certificate of the authority that signed that of the site's registry. */
  readonly trust: string;
  readonly signal: AbortSignal;
}

/** `openshift-install create single-node-ignition-config`, and `sno` with `--from-ignition`. */
export async function createFromInstaller(options: TakeOver): Promise<CreatedInstallation> {
  const { folder, agentsUrl, installer, trust, signal } = options;
  const theirs = join(folder, 'openshift-install');
  const ours = join(folder, 'taken-over');
  await mkdir(theirs, { recursive: true });
  await writeFile(join(theirs, 'install-config.yaml'), writeGoYaml(installConfig(trust)));
  const program = await ensureComponent(openshiftInstaller, { signal, report: () => undefined });
  await run(join(program, 'openshift-install'), [...COMMAND, '--dir', theirs], {
    signal,
    deadlineMs: CREATE_MS,
    env: {
      OPENSHIFT_INSTALL_DATA: join(program, 'data'),
      OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE: await releaseImage(signal),
    },
  });
  const takeOver = ['--from-ignition', theirs, '--dir', ours, '--agents-url', agentsUrl];
  await run(cli, [...COMMAND, ...takeOver], {
    signal,
    deadlineMs: CREATE_MS,
    env: { [DISK_VARIABLE]: installer },
  });
  return createdIn(ours);
}

/** The lab's release, by the digest of its manifest in the site's registry. */
export async function releaseImage(signal: AbortSignal): Promise<string> {
  const storage = await ensureComponent(openshiftRegistry, { signal, report: () => undefined });
  const text = await readFile(join(storage, IMAGE_DIGESTS), 'utf8');
  const digests = z.record(z.string(), z.string()).parse(JSON.parse(text));
  return referenceByDigest(RELEASE_IMAGE, digests[RELEASE_IMAGE] ?? '');
}
