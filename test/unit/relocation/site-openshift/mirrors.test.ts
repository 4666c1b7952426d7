/** The mirrors of a site, in place of all others. */
import t from 'tap';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { INSTALLED } from './installed-objects.ts';
import { MINIMAL, plain, startSiteApi } from './site-api.ts';

const CONFIG = '/apis/config.openshift.io/v1';
const DIGESTS = `${CONFIG}/imagedigestmirrorsets`;
const TAGS = `${CONFIG}/imagetagmirrorsets`;
const POLICY = '/apis/operator.openshift.io/v1alpha1/imagecontentsourcepolicies/image-policy';

const DIGEST_ONLY = `imageDigestSources:
  - {source: quay.test/release, mirrors: [d.test/release, e.test/release], sourcePolicy: NeverContactSource}
  - {source: quay.test/other, mirrors: [d.test/other]}
`;
const TAG_ONLY = 'imageTagSources: [{source: quay.test/release, mirrors: [t.test/release]}]\n';

const set = (kind: string, name: string, field: string, ...entries: readonly object[]) => ({
  apiVersion: 'config.openshift.io/v1',
  kind,
  metadata: { name },
  spec: { [field]: entries },
});
const digestSet = (name: string, ...entries: readonly object[]) =>
  set('ImageDigestMirrorSet', name, 'imageDigestMirrors', ...entries);
const tagSet = (name: string, ...entries: readonly object[]) =>
  set('ImageTagMirrorSet', name, 'imageTagMirrors', ...entries);

const entry = (source: string, mirrors: readonly string[], policy = 'AllowContactingSource') => ({
  ...{ source, mirrors, mirrorSourcePolicy: policy },
});
const DIGEST_SITE = digestSet(
  'sno-site',
  entry('quay.test/release', ['d.test/release', 'e.test/release'], 'NeverContactSource'),
  entry('quay.test/other', ['d.test/other']),
);
const TAG_SITE = tagSet('sno-site', entry('quay.test/release', ['t.test/release']));

/** The mirrors of a cluster that got this site; `writes` are only those of mirrors. */
async function at(t: Parameters<typeof startSiteApi>[0], ...more: Parameters<typeof digestSet>[]) {
  const it = await startSiteApi(t, [
    ...INSTALLED,
    tagSet('tags-of-factory'),
    ...more.map((each) => digestSet(...each)),
  ]);
  const writes = () => it.writes().filter((each) => /mirrorsets|contentsource/.test(each));
  const found = () =>
    Object.entries(it.state()).flatMap(([path, object]) =>
      /mirrorsets|contentsource/.test(path) ? [object] : [],
    );
  return { ...it, writes, found };
}

const OF_FACTORY = [`DELETE ${DIGESTS}/image-digest-mirror`, `DELETE ${TAGS}/tags-of-factory`];

t.test(
  'a source with both kinds of mirrors is in both, before those of the factory go',
  async (t) => {
    const { carryOut, writes, found } = await at(t);
    await carryOut(MINIMAL + DIGEST_ONLY + TAG_ONLY);
    t.strictSame(writes(), [`POST ${DIGESTS}`, `POST ${TAGS}`, ...OF_FACTORY, `DELETE ${POLICY}`]);
    t.strictSame(found(), [DIGEST_SITE, TAG_SITE]);
  },
);

t.test('digests only: no object of tags is left', async (t) => {
  const { carryOut, writes, found } = await at(t);
  await carryOut(MINIMAL + TAG_ONLY);
  t.strictSame(writes(), [`POST ${TAGS}`, ...OF_FACTORY, `DELETE ${POLICY}`]);
  t.strictSame(found(), [TAG_SITE]);
  await carryOut(MINIMAL + DIGEST_ONLY);
  t.strictSame(writes(), [`POST ${DIGESTS}`, `DELETE ${TAGS}/sno-site`]);
  t.strictSame(found(), [DIGEST_SITE]);
});

t.test(
  'another site replaces the mirrors, and what somebody has added to the object',
  async (t) => {
    const { carryOut, writes, found, api } = await at(t, [
      'sno-site',
      entry('quay.test/earlier', []),
    ]);
    const path = `${DIGESTS}/sno-site`;
    const before = api.get(path);
    api.set(path, {
      ...DIGEST_SITE,
      ...before,
      metadata: { name: 'sno-site', labels: { a: 'b' } },
    });
    await carryOut(MINIMAL + DIGEST_ONLY);
    t.strictSame(writes(), [`PUT ${path}`, ...OF_FACTORY, `DELETE ${POLICY}`]);
    t.strictSame(found(), [{ ...DIGEST_SITE, metadata: { name: 'sno-site', labels: { a: 'b' } } }]);
  },
);

t.test('an empty list leaves no mirror, none leaves all', async (t) => {
  const { carryOut, writes, found } = await at(t, ['sno-site']);
  const before = found();
  await carryOut(MINIMAL);
  t.strictSame(writes(), []);
  t.strictSame(found(), before);
  await carryOut(`${MINIMAL}imageDigestSources: []\n`);
  t.strictSame(writes(), [
    `DELETE ${DIGESTS}/image-digest-mirror`,
    `DELETE ${DIGESTS}/sno-site`,
    `DELETE ${TAGS}/tags-of-factory`,
    `DELETE ${POLICY}`,
  ]);
  t.strictSame(found(), []);
});

t.test(
  'one that was deleted and made again in between is somebody’s: it is not deleted',
  async (t) => {
    const { carryOut, writes, api } = await at(t);
    const path = `${DIGESTS}/image-digest-mirror`;
    const again = digestSet('image-digest-mirror', entry('quay.test/new', ['n.test/new']));
    let isMade = false;
    api.rule(({ method }) => {
      if (method !== 'DELETE' || isMade) return undefined;
      isMade = true;
      api.delete(path);
      api.set(path, { ...again, metadata: { name: 'image-digest-mirror', uid: 'another' } });
      return undefined;
    });
    t.match(await thrownBy(carryOut(MINIMAL + DIGEST_ONLY)), {
      kind: 'conflict',
      message: /DELETE .*image-digest-mirror: 409 .*uid in precondition/,
    });
    t.strictSame(plain(api.get(path)), again);
    t.strictSame(writes(), [`POST ${DIGESTS}`, `DELETE ${path}`], 'nothing behind it');
  },
);
