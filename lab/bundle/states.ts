import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import type { Host } from '../host/host.ts';
import { onHost } from '../host/on-host.ts';
import type { Installation } from '../installation.ts';
import { HELLO_IMAGE, importHelloImage } from '../test-workload.ts';
import { HOSTILE_LINES } from './hostile-lines.ts';

/** A change to a host that lasts while `look` runs and is then undone. */
export type State = (
  run: Installation,
  signal: AbortSignal,
  look: () => Promise<void>,
) => Promise<void>;

const COMMAND_MS = 60_000;
const APPEARS_MS = 120_000;

const hostOf = ({ host }: Installation): Host => {
  if (host === undefined) throw new Error('no host is running');
  return host;
};

/** Waits until the API reports ready, or no longer answers. */
async function api(host: Host, state: 'ready' | 'down', signal: AbortSignal): Promise<void> {
  const asked = 'curl --silent --insecure --max-time 2 https://127.0.0.1:6443/readyz';
  const probe =
    state === 'ready'
      ? `until [ "$(${asked})" = ok ]; do sleep 0.3; done`
      : `while ${asked} >/dev/null; do sleep 0.3; done`;
  await host.exec(['bash', '-c', probe], { timeoutMs: APPEARS_MS }, signal);
}

/** As after a wrong change: the server rejects an option in its manifest and keeps exiting. */
export const apiDown: State = async (run, signal, look) => {
  const host = hostOf(run);
  const manifest = join(host.rootDir, 'etc/kubernetes/manifests/kube-apiserver.yaml');
  const text = await readFile(manifest, 'utf8');
  const wrong = text.replace(/^( *)- kube-apiserver\n/m, '$&$1- --no-such-option\n');
  await writeFileAtomic(manifest, wrong, 0o600);
  try {
    await api(host, 'down', signal);
    await secondLog(host, signal);
    await look();
  } finally {
    await writeFileAtomic(manifest, text, 0o600);
  }
  await api(host, 'ready', signal);
};

/** Log of the container's second start: by then there is something to read. */
async function secondLog(host: Host, signal: AbortSignal): Promise<void> {
  const log = '/var/log/pods/kube-system_kube-apiserver-*/kube-apiserver/1.log';
  const wait = `until ls ${log} >/dev/null 2>&1; do sleep 0.5; done`;
  await host.exec(['bash', '-c', wait], { timeoutMs: APPEARS_MS }, signal);
}

/** Connections are accepted but never answered. */
export const apiHanging: State = async (run, signal, look) => {
  const host = hostOf(run);
  const pid = await onHost(host, ['pidof', 'kube-apiserver'], signal);
  await onHost(host, ['kill', '-STOP', pid], signal);
  try {
    await look();
  } finally {
    // The kubelet may have killed it meanwhile because its probe was not answered.
    await host.exec(['kill', '-CONT', pid], { timeoutMs: COMMAND_MS }, signal);
  }
  await api(host, 'ready', signal);
};

/** Containers keep running; the runtime does not answer. */
export const runtimeDead: State = async (run, signal, look) => {
  const host = hostOf(run);
  await onHost(host, ['systemctl', 'stop', 'containerd.service'], signal);
  try {
    await look();
  } finally {
    await onHost(host, ['systemctl', 'start', 'containerd.service'], signal);
  }
};

const FILLER = join('/var', 'filler');

/** By allocation without writing. */
const LEAVE_64_MIB = `fallocate --length "$(($(df --output=avail --block-size=1M /var | tail -n 1) - 64))MiB" ${FILLER}`;
/** Ends with "no space left on device". */
const FILL_REST = `dd if=/dev/zero of=${FILLER} oflag=append conv=notrunc bs=4k`;

const filledBy =
  (script: string): State =>
  async (run, signal, look) => {
    const host = hostOf(run);
    await host.exec(['bash', '-c', script], { timeoutMs: APPEARS_MS }, signal);
    try {
      await look();
    } finally {
      await rm(join(host.rootDir, FILLER), { force: true });
    }
  };

/** Journals can still be written, but no program or image. */
export const diskNearlyFull: State = filledBy(LEAVE_64_MIB);

/** Not a byte is left for any user, root included. */
export const diskFull: State = filledBy(`${LEAVE_64_MIB}; ${FILL_REST}`);

const FLOOD = '/var/lib/flood';
/** Written by the container before the bundle is made: more than is kept of a log. */
const FLOOD_BYTES = 30 * 2 ** 20;

const floodPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'flood', namespace: 'kube-system' },
  spec: {
    hostNetwork: true,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'flood',
        image: HELLO_IMAGE,
        imagePullPolicy: 'Never',
        command: ['busybox', 'sh', '-c'],
        args: [`while :; do busybox cat ${FLOOD}/lines; busybox sleep 1; done`],
        volumeMounts: [{ name: 'flood', mountPath: FLOOD, readOnly: true }],
      },
    ],
    volumes: [{ name: 'flood', hostPath: { path: FLOOD } }],
  },
};

/** A container writes hostile lines all the time, megabytes each second. */
export const flooded: State = async (run, signal, look) => {
  const host = hostOf(run);
  const lines = join(host.rootDir, FLOOD, 'lines');
  const manifest = join(host.rootDir, 'etc/kubernetes/manifests/flood.yaml');
  await mkdir(dirname(lines), { recursive: true });
  await importHelloImage(host, join(dirname(lines), 'hello.tar'), signal);
  await writeFile(lines, `${HOSTILE_LINES.map(({ text }) => text).join('\n')}\n`, 'latin1');
  await writeFileAtomic(manifest, JSON.stringify(floodPod), 0o600);
  try {
    const written = 'cat /var/log/pods/kube-system_flood-*/flood/*.log 2>/dev/null | wc -c';
    const wait = `until [ "$(${written})" -gt ${FLOOD_BYTES} ]; do sleep 0.5; done`;
    const { exitCode } = await host.exec(['bash', '-c', wait], { timeoutMs: APPEARS_MS }, signal);
    if (exitCode !== 0) throw new Failure('fatal', 'the container does not write its lines');
    await look();
  } finally {
    await rm(manifest, { force: true });
    await rm(dirname(lines), { recursive: true, force: true });
  }
};
