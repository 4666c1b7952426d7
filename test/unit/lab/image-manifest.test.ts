import { createHash } from 'node:crypto';
import t from 'tap';
import { imageManifest } from '../../../lab/components/openshift/image-manifest.ts';

t.test('an image is served by the digest of its manifest', async (t) => {
  const config = { digest: 'c'.repeat(64), bytes: 3 };
  const layers = [
    { digest: 'a'.repeat(64), bytes: 1 },
    { digest: 'b'.repeat(64), bytes: 2 },
  ];
  const { text, digest } = imageManifest(config, layers);
  t.equal(digest, `sha256:${createHash('sha256').update(text).digest('hex')}`);
  t.match(JSON.parse(text), {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: {
      mediaType: 'application/vnd.oci.image.config.v1+json',
      digest: `sha256:${config.digest}`,
      size: 3,
    },
    layers: [
      // Uncompressed: its digest is that in the configuration of the image.
      { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: /:a+$/, size: 1 },
      { digest: /:b+$/, size: 2 },
    ],
  });
});
