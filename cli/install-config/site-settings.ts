import { stringify } from 'yaml';
import type { Cluster } from '../../lib/cluster/cluster.ts';
import { mergeMirrors } from './mirrors.ts';
import { expectedOnHost } from './nmstate/interfaces.ts';
import { completeNoProxy } from './proxy.ts';
import type { InstallConfig } from './schema.ts';
import { certificatesOf } from './trust-bundle.ts';

/** What a site gives, in the form in which it travels to the host. */
export interface SiteSettings {
  cluster: Pick<
    Cluster,
    'proxy' | 'additionalTrustBundle' | 'imageMirrors' | 'networkConfig' | 'additionalNtpSources'
  >;
  kernelArguments: string[];
  savePartitions: { labels: string[]; indexes: string[] };
  /** Network adapters that networkConfig takes for granted. */
  expectedAdapters: string[];
  /** Whether the bundle was meant for a proxy that is not there. */
  bundleWithoutProxy: boolean;
}

type Networks = Pick<Cluster, 'machineNetwork' | 'clusterNetwork' | 'serviceNetwork'>;

export function siteSettings(config: InstallConfig, networks: Networks): SiteSettings {
  const {
    proxy,
    additionalTrustBundle,
    additionalTrustBundlePolicy,
    bootstrapInPlace = {},
  } = config;
  const { networkConfig, additionalNTPSources = [], kernelArguments = [] } = bootstrapInPlace;
  const { labels = [], indexes = [] } = bootstrapInPlace.savePartitions ?? {};
  const names = { name: config.metadata.name, baseDomain: config.baseDomain };
  return {
    cluster: {
      ...(proxy === undefined
        ? {}
        : {
            proxy: {
              ...proxy,
              noProxy: completeNoProxy(proxy.noProxy ?? '', { ...names, ...networks }),
            },
          }),
      ...(additionalTrustBundle === undefined
        ? {}
        : { additionalTrustBundle: certificatesOf(additionalTrustBundle).join('') }),
      imageMirrors: imageMirrors(config),
      // Quoted, so that no reader takes an address of hardware or a mode for a number.
      ...(networkConfig === undefined
        ? {}
        : {
            networkConfig: stringify(networkConfig, {
              defaultStringType: 'QUOTE_DOUBLE',
              defaultKeyType: 'PLAIN',
              lineWidth: 0,
            }),
          }),
      additionalNtpSources: additionalNTPSources,
    },
    kernelArguments,
    savePartitions: { labels, indexes: indexes.map(String) },
    expectedAdapters: networkConfig === undefined ? [] : expectedOnHost(networkConfig),
    bundleWithoutProxy:
      additionalTrustBundle !== undefined &&
      additionalTrustBundlePolicy !== 'Always' &&
      proxy === undefined,
  };
}

/** Both of the installer's fields are for images by digest: what a tag means only its source knows. */
function imageMirrors({ imageContentSources = [], imageDigestSources = [] }: InstallConfig) {
  return mergeMirrors([
    ...imageContentSources.map((each) => ({
      ...each,
      digestOnly: true,
      neverContactSource: false,
    })),
    ...imageDigestSources.map(({ sourcePolicy, ...each }) => ({
      ...each,
      digestOnly: true,
      neverContactSource: sourcePolicy === 'NeverContactSource',
    })),
  ]);
}
