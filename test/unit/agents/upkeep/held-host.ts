import type { Test } from 'tap';
import { signedRights } from '../../../../agents/steps/host-context.ts';
import type { IdentityContext } from '../../../../agents/upkeep/identity/context.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { type Identity, identityOf } from '../../../../lib/change/identity/identity.ts';
import { requestIdentity } from '../../../../lib/change/identity/request.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { namesIn } from '../../../../lib/host/files.ts';
import { kubeletPaths } from '../../../../lib/render/kubernetes/kubelet.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { input, rendered, servingPair } from '../../render/rendered-host.ts';
import { fakeControlPlane } from '../host/control-plane.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { KUBELET_ACTIVE } from '../host/kubelet-unit.ts';
import { type Answer, apiOf } from './earlier-authority.ts';

const FOLDER = '/var/lib/sno-agents/sno-identity';
export const DROP_IN = '/etc/systemd/system/kubelet.service.d/50-sno-identity.conf';
export const ENVIRONMENT = '/etc/sno-agents/kubelet.env';
export const pod = (name: string) => `/etc/kubernetes/manifests/${name}.yaml`;
/** As on a host that a live host wrote. */
export const fileOf = (name: string) => (name === 'etcd' ? 'etcd-pod' : name);
export const heldPod = (name: string) => `${FOLDER}/manifests/${fileOf(name)}.yaml`;
export const serving = issuedLeaves.apiServerServing;

/** What these steps read; hosts are many here, and a rendered file is no more than one of them. */
const READ =
  /\/pki\/(ca\/(serving|admin|kubelet-client)|kube-(apiserver|scheduler|controller-manager)|etcd)\//;

export const proxy = {
  httpProxy: 'http://proxy.example:3128',
  noProxy: ['api-int.edge.example.test'],
};
const from = identityOf(input);
const to: Identity = {
  hostname: 'edge-9',
  nodeIps: ['198.51.100.7'],
  machineNetwork: ['198.51.100.0/25'],
  clusterName: 'shop',
  baseDomain: 'example.org',
};
const expired = await createAuthority('expired', 1, new Date('2020-01-01T00:00:00Z'));
export const cross = await createAuthority('cross');

/** What the programs of a host demand of those before them. */
const HOSTNAMECTL = 'echo "$1 $2" > "$ROOT/etc/hostname"';
const SYSTEMCTL = `cd "$ROOT/etc/kubernetes/manifests"; case "$*" in
"stop kubelet.service") ls > "$ROOT/run/placed-at-stop"; grep -q 'set-hostname edge-9' "$ROOT/etc/hostname" || exit 81 ;;
"restart containerd.service")
  [ ! -e "$ROOT${KUBELET_ACTIVE}" ] && [ -e "$ROOT/etc/sno-agents/proxy.env" ] || exit 82
  touch "$ROOT/run/restarted" ;;
"restart kubelet.service")
  [ ! -e "$ROOT${KUBELET_ACTIVE}" ] || [ -e kube-scheduler.yaml ] || exit 83
  [ -e etcd-pod.yaml ] && [ -e kube-apiserver.yaml ] || exit 84
  cp "$ROOT${serving.certificate}" "$ROOT/run/served-at-start"
  [ -e "$ROOT/run/restarted" ] || [ ! -e "$ROOT/etc/sno-agents/proxy.env" ] || exit 85
  [ ! -e "$ROOT${DROP_IN}" ] || [ ! -e kube-scheduler.yaml ] || exit 86 ;;
"daemon-reload") [ ! -e "$ROOT${DROP_IN}" ] || exit 87 ;;
esac`;

interface Options {
  readonly proxy?: typeof proxy;
  readonly environment?: string;
  /** Whether each program takes a while: whoever does not wait for its end is too early. */
  readonly isSlow?: true;
}

/** An API server that is ready while the kubelet of `current` runs, and is asked only then. */
export async function heldHosts(t: Test, answers: Readonly<Record<string, Answer>> = {}) {
  const seen: { current?: TestHost; asked: string[] } = { asked: [] };
  const leases = ['kube-controller-manager', 'kube-scheduler'].map((name) => [
    `DELETE /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`,
    () => {
      seen.asked.push(`Lease of ${name}, placed: ${seen.current?.has(pod(name))}`);
      return {};
    },
  ]);
  const { url, requests } = await apiOf(t, servingPair, {
    ...Object.fromEntries(leases),
    'GET /readyz': async () => {
      const { current: host } = seen;
      const isSaved = host?.read('/etc/sno-agents/render-input.json').includes('edge-9');
      seen.asked.push(`${host?.has(KUBELET_ACTIVE) ? 'running' : 'stopped'}, saved: ${isSaved}`);
      return host?.has(KUBELET_ACTIVE) ? {} : { kind: 'Status', code: 503 };
    },
    ...answers,
  });
  return { seen, requests, held: (options?: Options) => heldHost(t, url, seen, options) };
}

async function heldHost(
  t: Test,
  api: string,
  seen: { current?: TestHost },
  { proxy, environment, isSlow }: Options = {},
) {
  const host = testHost(t, { endpoints: { api } });
  seen.current = host;
  for (const { path, contents, mode } of rendered.files) {
    if (READ.test(path)) host.write(path, contents, mode);
  }
  for (const { component, manifest } of rendered.staticPods) {
    host.write(heldPod(component), manifest, 0o600);
  }
  const others = [expired, cross].map(({ certificate }) => certificate);
  host.write(serving.certificate, [host.read(serving.certificate), ...others].join(''));
  host.write(DROP_IN, '');
  host.write(kubeletPaths.liveConfig, '');
  host.write('/etc/kubernetes/manifests/other.yaml', '');
  if (environment !== undefined) host.write(ENVIRONMENT, environment);
  const cluster = { ...input.cluster, ...(proxy && { proxy }) };
  await saveRenderInput(host.paths, { ...input, cluster });
  await fakeControlPlane(t, host, pod);
  const takes = isSlow ? 'sleep 0.1\n' : '';
  host.programs.give('hostnamectl', `${takes}${HOSTNAMECTL}`);
  host.programs.unless('systemctl', `${takes}${SYSTEMCTL}`);
  const request = await requestIdentity(host.paths, { from, to });
  const context: IdentityContext = {
    ...{ ...host.context, ...signedRights({ paths: host.paths, cluster }) },
    ...{ cluster, request, hostname: () => to.hostname },
  };
  return {
    host,
    context,
    run: (step: StepBody<IdentityContext>) => step.run(context, host.progress()),
    holds: (step: StepBody<IdentityContext>) => step.holds(context, host.progress()),
  };
}

export const kubeletFiles = ({ paths }: TestHost) =>
  namesIn(paths.kubeletPki).then((all) => all.filter((name) => name.startsWith('kubelet-client')));
