/** What is rendered again for an update is what was rendered first, as long as nothing has changed. */
import t from 'tap';
import { addOns } from '../../../lib/payload/add-ons.ts';
import { renderAgain } from '../../../lib/render/kubernetes/again.ts';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import { withReadOnce } from '../../../lib/render/kubernetes/read-once.ts';
import { input } from './rendered-host.ts';

const images = {
  ...input.host.images,
  ...Object.fromEntries(addOns.map(({ name }) => [name, `example.test/${name}:1`])),
};
const whole = { ...input, host: { ...input.host, images } };
const first = await kubernetesRenderer.render(whole);
const { authorities: _, ...keyless } = whole;
const again = renderAgain(keyless);

t.test('the files are those of the first time, and none has a key', async (t) => {
  t.ok(again.files.length >= 6);
  for (const file of again.files) {
    t.same(
      file,
      first.files.find(({ path }) => path === file.path),
      file.path,
    );
    t.equal(file.keyClass, undefined, file.path);
  }
});

t.test('the static pods are the same, but for what is read on the host', async (t) => {
  const contents = new Map(first.files.map(({ path, contents }) => [path, contents]));
  t.same(
    again.staticPods.map((pod) => ({ ...pod, manifest: withReadOnce(pod, contents) })),
    first.staticPods,
  );
});

t.test('the add-ons are the same', async (t) => {
  t.equal(again.manifests.length, addOns.length);
  for (const manifest of again.manifests) {
    t.same(
      manifest,
      first.manifests.find(({ name }) => name === manifest.name),
    );
  }
});

t.test('another image changes its pod and nothing else', async (t) => {
  const host = { ...keyless.host, images: { ...images, 'kube-scheduler': 'example.test/new:2' } };
  const next = renderAgain({ ...keyless, host });
  t.same(next.files, again.files);
  t.same(
    next.staticPods
      .filter(({ manifest }, index) => manifest !== again.staticPods[index]?.manifest)
      .map(({ component }) => component),
    ['kube-scheduler'],
  );
});
