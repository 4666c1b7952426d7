import type { InstallableCluster } from '../../../lib/config/cluster/cluster.ts';
import { SITE_CA } from '../cli/certificates.ts';
import { input } from './rendered-host.ts';

/** A cluster with every kind of site configuration. */
export const siteCluster: InstallableCluster = {
  ...input.cluster,
  proxy: {
    httpProxy: 'http://me:hunter2@proxy.example.com:3128',
    noProxy: ['.svc', '127.0.0.1'],
  },
  additionalTrustBundle: SITE_CA,
  imageMirrors: [
    {
      source: 'quay.io/a/b',
      mirrors: ['mirror.example.com:5000/x/a/b'],
      digestOnly: true,
      neverContactSource: false,
    },
  ],
  networkConfig: 'interfaces: []\n',
  additionalNtpSources: ['ntp1.example.com', '192.168.7.1'],
};
