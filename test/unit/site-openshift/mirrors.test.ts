import t from 'tap';
import { parseSiteConfig } from '../../../lib/site-config/read.ts';
import { mirrorWrites } from '../../../lib/site-openshift/mirrors.ts';
import { carryOut } from '../../../lib/site-openshift/site-write.ts';
import { startFakeApi } from '../kube/fake-api.ts';

const CONFIG = '/apis/config.openshift.io/v1';
const DIGESTS = `${CONFIG}/imagedigestmirrorsets`;
const TAGS = `${CONFIG}/imagetagmirrorsets`;

const SITE = `api_version: 1
cluster_name: sno
base_domain: site.test
imageDigestSources:
  - {source: quay.test/release, mirrors: [d.test/release], sourcePolicy: NeverContactSource}
imageTagSources:
  - {source: quay.test/release, mirrors: [t.test/release]}
`;

t.test(
  'a source with both kinds of mirrors is in both objects, the factory is in none',
  async (t) => {
    const limits = { signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 };
    const { api, client } = await startFakeApi(t);
    api.set(`${DIGESTS}/factory`, {
      apiVersion: 'config.openshift.io/v1',
      kind: 'ImageDigestMirrorSet',
      metadata: { name: 'factory' },
    });
    const site = parseSiteConfig(SITE, 'site-config.yaml', { files: new Map(), now: new Date() });
    await carryOut(client, mirrorWrites(site.imageMirrors ?? []), limits);
    t.match(api.get(`${DIGESTS}/sno-site`), {
      kind: 'ImageDigestMirrorSet',
      spec: {
        imageDigestMirrors: [
          {
            source: 'quay.test/release',
            mirrors: ['d.test/release'],
            mirrorSourcePolicy: 'NeverContactSource',
          },
        ],
      },
    });
    t.match(api.get(`${TAGS}/sno-site`), {
      kind: 'ImageTagMirrorSet',
      spec: {
        imageTagMirrors: [
          {
            source: 'quay.test/release',
            mirrors: ['t.test/release'],
            mirrorSourcePolicy: 'AllowContactingSource',
          },
        ],
      },
    });
    t.equal(api.get(`${DIGESTS}/factory`), undefined);
  },
);
