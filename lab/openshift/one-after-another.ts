import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandOf, imageOf } from '../../lib/render/openshift/command.ts';
import type { PulledRelease } from '../../lib/render/openshift/release.ts';
import { type Copy, stagesIn, type VersionedStage } from '../../lib/render/openshift/stage.ts';
import { STAGES } from '../../lib/render/openshift/stages.ts';

/** On the host; `host` stands for its root in the results. */
const WORK = '/var/tmp/one-after-another';
const ASSETS = `${WORK}/assets`;

/**
 * A script that renders a release as openshift-install's bootkube.sh does, with the same images and
 * arguments: it looks up each image with a container, and then runs one stage after another on one
 * tree. `assets` is the host's /opt/openshift as the lab sees it.
 */
export function oneAfterAnother(release: PulledRelease, assets: string): string {
  const stages = stagesIn(release.stages, STAGES);
  const images = [...new Set(stages.map(({ image }) => image))].filter(
    (each) => each !== 'release',
  );
  return [
    'set -eu',
    `rm -rf ${WORK}`,
    `mkdir -p ${ASSETS} ${WORK}/host`,
    `cd ${ASSETS}`,
    'for each in manifests openshift tls auth; do cp -r "/opt/openshift/$each" .; done',
    'cp openshift/* manifests/',
    // Sixteen in bootkube.sh, some of images that no stage runs.
    ...images.map(
      (image) =>
        `podman run --quiet --rm --net=none ${release.reference} image ${image} > /dev/null`,
    ),
    `podman run --quiet --rm --net=none --entrypoint cat ${release.reference} /release-manifests/image-references > image-references`,
    ...stages.flatMap((stage) => linesOf(stage, release, assets)),
    '',
  ].join('\n');
}

function linesOf(stage: VersionedStage, release: PulledRelease, assets: string): string[] {
  const { name, image, user, environment = {}, hostFolders = [], copies } = stage;
  const options = [
    ...['--quiet', '--net=host', '--rm', '--log-driver=k8s-file', `--name=${name}`],
    `--volume=${ASSETS}:/assets:z`,
    ...(user === undefined ? [] : ['--user=0']),
    ...Object.entries(environment).map(([key, value]) => `--env=${key}=${value}`),
  ];
  const command = commandOf(stage, release, (path) => existsSync(join(assets, path)));
  return [
    'overlays=',
    ...hostFolders.map((folder) => overlay(folder)),
    ['podman run', ...options, '$overlays', imageOf(release, image), ...command].join(' '),
    ...copies.map(copyLine),
  ];
}

function overlay(folder: string): string {
  const [upper, work] = [`${WORK}/overlay${folder}/upper`, `${WORK}/overlay${folder}/work`];
  const volume = `${folder}:${folder}:O,upperdir=${upper},workdir=${work}`;
  return `if [ -d ${folder} ]; then mkdir -p ${upper} ${work}; overlays="$overlays --volume=${volume}"; fi`;
}

function copyLine({ from, shared, to }: Copy): string {
  const source = from ?? shared ?? '';
  const target = to.startsWith('/') ? `${WORK}/host${to}` : to;
  const folder = `mkdir -p ${target} && cp -r ${source}/. ${target}/`;
  const file = `mkdir -p ${dirname(target)} && cp ${source} ${target}`;
  const isSame = source === target;
  return isSame
    ? ':'
    : `if [ -d ${source} ]; then ${folder}; elif [ -e ${source} ]; then ${file}; fi`;
}
