/**
 * The stages of a release with podman itself. Each image has a shell and the files that its stage
 * writes: what is tested is how containers are run, not what OpenShift renders.
 */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { runHere } from '../../../lib/host/named-unit.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { hasRelease, pullRelease } from '../../../lib/render/openshift/images.ts';
import { openShiftRenderer } from '../../../lib/render/openshift/index.ts';
import { hostPodman } from '../../../lib/render/openshift/podman.ts';
import { stagesIn } from '../../../lib/render/openshift/stage.ts';
import { STAGES } from '../../../lib/render/openshift/stages.ts';
import {
  FakePodman,
  installerFiles,
  results,
  writeFiles,
} from '../../unit/render/openshift/fake-podman.ts';
import { imageReferences, referenceOf } from '../../unit/render/openshift/release.ts';

const stages = stagesIn('4.21', STAGES);
const busybox = '/usr/bin/busybox';

/** Copies the results of the stage that its arguments name; what it got is printed. */
const RENDER = `#!/bin/sh
echo "$@"
for stage in /results/*; do
  case "$*" in *"/assets/\${stage##*/}"*) cp -r "$stage/." /assets/ ;; esac
done
case "$*" in *bootcmd*)
  [ "$CLUSTER_NODE_TUNED_BOOTSTRAP_SAFE_ENV" = true ] || exit 4
  echo changed > /etc/sysconfig/tuned ;;
esac
[ ! -e /results/fails ] || { echo 'F0101 cannot render' >&2; exit 7; }
`;

async function whyNot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'needs root';
  const { exitCode } = await execa('podman', ['info'], { reject: false });
  if (exitCode !== 0) return 'needs podman';
  return existsSync(busybox) ? false : 'needs busybox';
}

/** The folder of a stage's output, by which its arguments name it. */
const outputOf = (stage: string) =>
  stage === 'ingress-operator-bootstrap' ? 'ingress-operator-manifests' : stage;

const referenceBy = (image: string) => `localhost/sno-test/${image}:1`;

async function makeImages(t: Test, folder: string): Promise<string> {
  const all = results();
  const releaseFiles = {
    'release-manifests/image-references': imageReferences.replaceAll(
      /"registry.example\/ocp@[^"]*"/g,
      (reference) => {
        const name = [...images].find((each) => `"${referenceOf(each)}"` === reference);
        return `"${referenceBy(name ?? 'none')}"`;
      },
    ),
    'release-manifests/release-metadata': '{"version":"4.21.0"}',
  };
  for (const image of new Set([...stages.map((stage) => stage.image)])) {
    const root = join(folder, image);
    for (const stage of stages.filter((each) => each.image === image)) {
      writeFiles(join(root, 'results', outputOf(stage.name)), all[stage.name] ?? {});
    }
    if (image === 'release') writeFiles(root, releaseFiles);
    mkdirSync(join(root, 'bin'), { recursive: true });
    for (const part of ['tmp', 'usr/bin', 'assets'])
      mkdirSync(join(root, part), { recursive: true });
    copyFileSync(busybox, join(root, 'bin/busybox'));
    for (const name of ['sh', 'cat', 'cp', 'echo']) copyFileSync(busybox, join(root, 'bin', name));
    for (const name of ['render', 'usr/bin/render', `usr/bin/${image}`]) {
      writeFileSync(join(root, name), RENDER, { mode: 0o755 });
    }
    const archive = `${root}.tar`;
    await execa('tar', ['-C', root, '-cf', archive, '.']);
    await execa('podman', [
      ...['import', '--quiet', '--change', 'ENV PATH=/bin'],
      // The other images are called with the path of their program.
      ...(stages.some(
        ({ image: own, command }) => own === image && !command[0]?.argument.startsWith('/'),
      )
        ? ['--change', 'ENTRYPOINT ["/render"]']
        : []),
      ...[archive, referenceBy(image)],
    ]);
  }
  t.teardown(() =>
    execa('podman', ['rmi', '--force', ...[...images].map(referenceBy)], { reject: false }),
  );
  return referenceBy('release');
}

const images = new Set([
  ...stages.map(({ image }) => image),
  ...['etcd', 'hyperkube', 'pod', 'cluster-policy-controller'],
]);

const skip = await whyNot();
t.test('a release with podman', { skip }, async (t) => {
  const folder = t.testdir();
  const releaseImage = await makeImages(t, join(folder, 'images'));
  const podman = hostPodman(runHere);
  const paths = hostPaths(join(folder, 'host'));
  writeFiles(paths.assets, installerFiles());
  writeFiles(paths.root, { 'etc/sysconfig/own': 'of the host' });
  const signal = AbortSignal.timeout(600_000);
  const render = (using: Parameters<typeof openShiftRenderer>[0], image: string, work: string) =>
    openShiftRenderer(using).render(
      {
        paths,
        host: { rootIsOverlay: false },
        release: {
          releaseImage: image,
          version: '4.21',
          clusterId: '',
          infrastructureName: '',
          platform: '',
        },
      },
      { signal, report: () => {}, work: join(folder, work) },
    );

  await t.test('its images are found in the storage', async (t) => {
    const limits = { signal, deadlineMs: 60_000, report: () => {} };
    const { release, images: count } = await pullRelease(podman, { releaseImage }, limits);
    t.equal(release.kubernetesVersion, '1.34.1');
    t.equal(count, 12);
    t.equal(await hasRelease(podman, { releaseImage }, signal), true);
    t.equal(await hasRelease(podman, { releaseImage: 'localhost/sno-test/none:1' }, signal), false);
  });

  await t.test('is rendered as without containers', async (t) => {
    // Left behind by an attempt that was killed: its name is taken.
    const name = 'sno-render-etcd-bootstrap';
    await execa('podman', ['create', '--name', name, releaseImage, 'x']);
    const rendered = await render(podman, releaseImage, 'work');
    const expected = await render(new FakePodman(results()), referenceOf('release'), 'fake');
    const names = (all: typeof rendered) => all.files.map(({ path }) => path).toSorted();
    t.same(names(rendered), names(expected));
    t.same(rendered.manifests, expected.manifests);
    t.same(rendered.staticPods, expected.staticPods);
    const { stdout } = await execa('podman', ['ps', '--all', '--format', '{{.Names}}']);
    t.notMatch(stdout, /sno-render/, 'no container is left');
    t.notOk(existsSync(paths.at('/etc/sysconfig/tuned')), 'the host is not tuned');
  });

  await t.test('a stage that fails is named, with what it printed', async (t) => {
    const image = referenceBy('cluster-kube-scheduler-operator');
    const root = join(folder, 'images/cluster-kube-scheduler-operator');
    writeFiles(root, { 'results/fails': '' });
    await execa('tar', ['-C', root, '-cf', `${root}.tar`, '.']);
    await execa('podman', ['import', '--quiet', '--change', 'ENV PATH=/bin', `${root}.tar`, image]);
    await t.rejects(render(podman, releaseImage, 'failing'), {
      code: 'render-failed',
      message:
        /sno-render-kube-scheduler-bootstrap failed; found exit code 7 .*image localhost.*--manifest-image=localhost\/sno-test\/hyperkube:1 .*F0101 cannot render/s,
    });
  });
});
