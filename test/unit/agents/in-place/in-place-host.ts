import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Test } from 'tap';
import type { InPlaceHost } from '../../../../agents/in-place/context.ts';
import type { Outcome } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import type { IgnitionConfig } from '../../../../lib/render/ignition/config.ts';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  user,
} from '../../../../lib/render/ignition/entries.ts';
import { cluster } from '../host/cluster.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';

export const FOLDER = '/var/lib/sno-agents/sno-in-place';
/** What the disk is seen as below the folders in memory. */
export const DISK = '/run/sno-agents/disk';
export const URL = 'http://192.0.2.1/6f1c/in-place.bundle';

/** As `sno create` puts a live host into a bundle. */
export const liveConfig = configOf({
  directories: [directory('/opt/openshift', 0o755), directory('/opt/openshift/tls', 0o700)],
  files: [
    file('/etc/sno-agents/cluster.json', 0o600, '{}'),
    file('/opt/openshift/tls/ca.key', 0o600, 'the key of a CA'),
  ],
  links: [link('/usr/local/bin/bootkube', '/var/lib/sno-agents/bin/sno-agents')],
  units: [
    unit('bootkube.service', { enabled: false, contents: '[Service]\nType=notify\n' }),
    unit('install-to-disk.service', { enabled: true, contents: '[Service]\nType=notify\n' }),
    unit('reboot.target', { dropins: [{ name: '10-a.conf', contents: '[Unit]\n' }] }),
  ],
  users: [user('core', { sshAuthorizedKeys: ['ssh-ed25519 A me'], groups: ['sudo'] })],
});

export interface Bundle {
  readonly bytes: Uint8Array;
  readonly key: string;
}

export async function bundleOf(config: IgnitionConfig | string): Promise<Bundle> {
  const key = await generateX25519Identity();
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(key));
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  return { bytes: await encrypter.encrypt(text), key };
}

export interface BootingHost {
  readonly it: TestHost;
  readonly host: InPlaceHost;
  run(step: StepBody<InPlaceHost>): Promise<Outcome>;
  holds(step: StepBody<InPlaceHost>): Promise<boolean>;
}

/** A host at its first boot, whose bundle is this one. */
export function bootingHost(t: Test, bundle: Bundle, options: HostOptions = {}): BootingHost {
  const it = testHost(t, options);
  const { paths, settings, bootTime } = it.context;
  const { clusterId, name, baseDomain } = cluster;
  const described = {
    ...{ apiVersion: 'sno-agents/v1' as const, clusterId, name, baseDomain },
    bundle: { url: URL, sha256: sha256(bundle.bytes), key: bundle.key },
  };
  it.write(`${FOLDER}/in-place.json`, JSON.stringify(described), 0o600);
  const host: InPlaceHost = { paths, settings, cluster: described, bootTime };
  return {
    it,
    host,
    run: (step) => step.run(host, it.progress()),
    holds: (step) => step.holds(host, it.progress()),
  };
}
