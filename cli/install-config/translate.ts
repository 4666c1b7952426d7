import type { Cluster, InstallableCluster } from '../../lib/config/cluster/cluster.ts';
import { mergeMirrors } from '../../lib/config/site/mirrors.ts';
import { withoutFinalDot } from '../../lib/config/site/names.ts';
import { networksOf } from '../../lib/config/site/network-defaults.ts';
import { expectedOnHost } from '../../lib/config/site/nmstate/interfaces.ts';
import { nmstateText } from '../../lib/config/site/nmstate/text.ts';
import { completeNoProxy } from '../../lib/config/site/proxy.ts';
import { certificatesOf } from '../../lib/config/site/trust-bundle.ts';
import type { Architecture } from '../../lib/host/architecture.ts';
import { sshKeys } from '../../lib/pki/signature/ssh-keys.ts';
import { SEAL_MODES, type SealMode } from '../../lib/secrets/seal/mode.ts';
import type { DiskArguments } from './disk-variable.ts';
import type { InstallConfig } from './schema.ts';

/** The user's decisions, with every default filled in. */
export interface InstallSettings {
  /** The cluster's description except what `sno create` finds or generates itself. */
  cluster: Omit<
    InstallableCluster,
    'clusterId' | 'executableSha256' | 'payloadSha256' | 'payloadUrl' | 'machineConfigServerUrl'
  >;
  pullSecret: string;
  /** Of the host; undefined: any that the payload supports. */
  architecture: Architecture | undefined;
  networkType: string | undefined;
  /** Network adapters that networkConfig expects on the host. */
  expectedAdapters: string[];
  /** Whether the trust bundle is for a proxy, but there is none. */
  bundleWithoutProxy: boolean;
}

/** The only translation of install-config.yaml to the cluster's description. */
export function settingsOf(config: InstallConfig, variable: DiskArguments): InstallSettings {
  const { bootstrapInPlace, additionalTrustBundlePolicy, networking } = config;
  const networkConfig = bootstrapInPlace?.networkConfig;
  const cluster = clusterOf(config, variable);
  return {
    cluster,
    pullSecret: config.pullSecret,
    architecture: config.controlPlane.architecture || undefined,
    networkType: networking?.networkType || undefined,
    expectedAdapters: networkConfig === undefined ? [] : expectedOnHost(networkConfig),
    bundleWithoutProxy:
      cluster.additionalTrustBundle !== undefined &&
      additionalTrustBundlePolicy !== 'Always' &&
      cluster.proxy === undefined,
  };
}

function clusterOf(config: InstallConfig, variable: DiskArguments): InstallSettings['cluster'] {
  const host = config.bootstrapInPlace;
  const names = { name: config.metadata.name, baseDomain: withoutFinalDot(config.baseDomain) };
  const networks = networksOf(config.networking ?? {});
  return {
    apiVersion: 'sno-agents/v1',
    controlPlane: 'kubernetes',
    ...names,
    hostname: host?.hostname,
    ...networks,
    installation: {
      disk: host?.installationDisk ?? variable.disk ?? '',
      coreosInstallerArgs: variable.rest,
      existingSystem: host?.existingSystem ?? 'refuse',
      kernelArguments: host?.kernelArguments ?? [],
      savePartitions: {
        labels: host?.savePartitions?.labels ?? [],
        indexes: (host?.savePartitions?.indexes ?? []).map(String),
      },
    },
    inPlace: host?.target === 'self' ? true : undefined,
    sshKeys: sshKeys(config.sshKey ?? ''),
    proxy: proxyOf(config, { ...names, ...networks }),
    additionalTrustBundle: certificatesOf(config.additionalTrustBundle ?? '').join('') || undefined,
    imageMirrors: mirrorsOf(config),
    networkConfig: host?.networkConfig && nmstateText(host.networkConfig),
    additionalNtpSources: host?.additionalNTPSources ?? [],
    dayOneWorkers: config.compute[0]?.replicas || undefined,
    reservedCpus: host?.reservedCPUs === undefined ? undefined : `${host.reservedCPUs}`,
    sealSecrets: sealModeOf(host?.sealSecrets),
    onAddressChange: host?.onAddressChange,
    metadataFromPods: host?.metadataFromPods ?? 'block',
    apiNames: host?.apiNames?.length ? host.apiNames : undefined,
    relocatable: host?.relocatable === true ? true : undefined,
    preflightWarnings: host?.preflightWarnings ?? [],
  };
}

/** `none` is as good as nothing. */
const sealModeOf = (given: string | undefined): SealMode | undefined =>
  SEAL_MODES.find((mode) => mode === given);

function proxyOf(
  { proxy }: InstallConfig,
  cluster: Parameters<typeof completeNoProxy>[1],
): Cluster['proxy'] {
  if (proxy === undefined) return undefined;
  return {
    httpProxy: proxy.httpProxy || undefined,
    httpsProxy: proxy.httpsProxy || undefined,
    noProxy: completeNoProxy(proxy.noProxy ?? '', cluster),
  };
}

/**
 * Both of the installer's fields are for images by digest: only the source knows
 * what a tag means.
 */
function mirrorsOf({ imageContentSources, imageDigestSources }: InstallConfig) {
  const digestOnly = true;
  return mergeMirrors([
    ...(imageContentSources ?? []).map((each) => ({
      ...each,
      digestOnly,
      neverContactSource: false,
    })),
    ...(imageDigestSources ?? []).map(({ sourcePolicy, ...each }) => ({
      ...each,
      digestOnly,
      neverContactSource: sourcePolicy === 'NeverContactSource',
    })),
  ]);
}
