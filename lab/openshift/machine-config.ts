import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { relocatableManifest } from '../../lib/relocation/relocatable/machine-config.ts';
import {
  ASSISTED_DNS,
  assistedDnsFiles,
} from '../../lib/relocation/relocatable/openshift/assisted-dns.ts';
import { machineConfigManifest } from '../../lib/render/machine-config/manifest.ts';
import { eventually } from '../eventually.ts';
import type { Daemon } from '../servers/daemon.ts';
import { NODE_ADDRESS } from './bootstrap-assets.ts';
import { type PodOptions, startStaticPod } from './static-pod.ts';

const START_MS = 60_000;
const ADDRESS = 'https://localhost:22623/config/master';
/** Without it, the server answers in an older version of the specification. */
const IGNITION = 'application/vnd.coreos.ignition+json;version=3.4.0';

const dropinsSchema = z.array(z.object({ name: z.string(), contents: z.string().optional() }));
const ignitionSchema = z.object({
  ignition: z.object({ version: z.literal('3.4.0') }),
  storage: z.object({
    files: z.array(
      z.object({ path: z.string(), contents: z.object({ source: z.string() }).optional() }),
    ),
  }),
  systemd: z.object({
    units: z.array(
      z.object({
        name: z.string(),
        contents: z.string().optional(),
        dropins: dropinsSchema.optional(),
      }),
    ),
  }),
});
type MasterIgnition = z.infer<typeof ignitionSchema>;

/** As `sno create relocatable-manifests` adds it to the installer's manifests. */
const relocatable = relocatableManifest({
  address: NODE_ADDRESS,
  nodeName: 'master-0',
  clusterDomain: 'sno.lab.local',
  replacesAssistedDns: true,
});

/** In the shape of that of assisted-service; its contents would do what a relocatable node does otherwise. */
const assisted = machineConfigManifest(ASSISTED_DNS, {
  files: assistedDnsFiles.map((each) => ({ ...each, contents: '#!/bin/sh\n# of others\n' })),
  units: [
    { name: 'dnsmasq.service', enabled: true, contents: '[Service]\nExecStart=/bin/false\n' },
  ],
});

/**
 * Places what was rendered as the bootstrap host has it, with the MachineConfig of a relocatable node, and starts the
 * machine-config server after the controller has rendered the MachineConfigs. Returns the number of files in the
 * master's Ignition config, which must have everything of that MachineConfig.
 */
export async function serveMasterIgnition(
  options: PodOptions,
  started: (daemons: readonly Daemon[]) => void,
): Promise<number> {
  const { roots, host, signal } = options;
  const { assets } = roots;
  const bootstrap = join(assets, 'mco-bootstrap/bootstrap');
  const input = join(host, 'etc/mcc/bootstrap');
  await cp(join(bootstrap, 'manifests'), input, { recursive: true });
  await cp(join(assets, 'manifests'), input, { recursive: true });
  for (const each of [assisted, relocatable]) {
    await writeFile(join(input, `${each.metadata.name}.yaml`), writeGoYaml(each));
  }
  for (const folder of ['etc/mcs', 'etc/ssl/mcs']) {
    await mkdir(join(host, folder), { recursive: true });
  }
  await copyFile(join(assets, 'auth/kubeconfig'), join(host, 'etc/mcs/kubeconfig'));
  for (const kind of ['crt', 'key']) {
    const source = join(assets, `tls/machine-config-server.${kind}`);
    await copyFile(source, join(host, `etc/ssl/mcs/tls.${kind}`));
  }
  const manifest = join(bootstrap, 'machineconfigoperator-bootstrap-pod.yaml');
  started(await startStaticPod(manifest, ['machine-config-server'], options));
  const ca = await readFile(join(assets, 'tls/root-ca.crt'), 'utf8');
  const body = await eventually(() => request(ca, signal), START_MS, signal);
  const served = ignitionSchema.parse(JSON.parse(body));
  requireRelocatable(served);
  return served.storage.files.length;
}

/** What the controller merges into one config with those of other MachineConfigs is not lost there. */
function requireRelocatable({ storage, systemd }: MasterIgnition): void {
  const { config } = relocatable.spec;
  const files = (config.storage?.files ?? []).filter(
    ({ path, contents }) =>
      storage.files.find((each) => each.path === path)?.contents?.source !== contents?.source,
  );
  const units = (config.systemd?.units ?? []).flatMap(({ name, contents, dropins = [] }) => {
    const found = systemd.units.find((each) => each.name === name);
    return [
      ...(contents === undefined || found?.contents === contents ? [] : [name]),
      ...dropins
        .filter(
          (own) =>
            found?.dropins?.find((each) => each.name === own.name)?.contents !== own.contents,
        )
        .map((own) => `${name}.d/${own.name}`),
    ];
  });
  const missing = [...files.map(({ path }) => path), ...units];
  if (missing.length === 0) return;
  throw new Failure('fatal', "the master's Ignition config lacks parts of a MachineConfig", {
    found: missing.join(', '),
  });
}

async function request(ca: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = get(ADDRESS, { ca, signal, headers: { accept: IGNITION } }, async (response) => {
    const body = await text(response);
    if (response.statusCode === 200) resolve(body);
    else reject(new Failure('retry', `${ADDRESS} returned ${response.statusCode}`));
  });
  sent.on('error', reject);
  return promise;
}
