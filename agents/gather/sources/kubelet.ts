import { describeError } from '../../../lib/base/errors/failure.ts';
import { exists } from '../../../lib/host/files.ts';
import { type GatherHost, own } from '../gather-host.ts';
import type { SourceGroup } from '../source.ts';
import { command } from './command.ts';
import { file } from './file.ts';
import { listing } from './listing.ts';
import { made } from './made.ts';
import { present } from './present.ts';

const HEALTH = 'http://127.0.0.1:10248/healthz';
const json = { format: 'json' } as const;

/** The kubelet's configuration and state; never its kubeconfig or keys. */
export const kubelet: SourceGroup = {
  name: 'kubelet',
  deadlineMs: 5000,
  async list(host) {
    const { at: onHost, kubelet: folder, kubeletPki, kubernetes, binaries } = host.paths;
    const at = (name: string) => own(host, `kubelet/${name}`);
    const isOpenShift = await exists(`${kubernetes}/kubelet.conf`);
    const ours = host.stage === 'live' ? 'kubelet-live.yaml' : 'kubelet.yaml';
    const configuration = `${kubernetes}/${isOpenShift ? 'kubelet.conf' : ours}`;
    return [
      made(at('healthz.txt'), health),
      command(at('unit.txt'), ['systemctl', '--no-pager', 'cat', 'kubelet.service']),
      ...(await present([
        file(at('config.yaml'), configuration),
        file(at('environment.txt'), onHost('/etc/sno-agents/kubelet.env')),
        file(at('node-sizing.txt'), onHost('/etc/node-sizing.env')),
        file(at('cpu_manager_state.json'), `${folder}/cpu_manager_state`, json),
        file(at('memory_manager_state.json'), `${folder}/memory_manager_state`, json),
        file(at('registries.conf'), onHost('/etc/containers/registries.conf')),
        file(at('containerd.toml'), onHost('/etc/containerd/config.toml')),
        file(at('crio.conf'), onHost('/etc/crio/crio.conf.d/60-sno-agents.conf')),
        command(at('version.txt'), ['kubelet', '--version']),
        command(at('version-agents.txt'), [`${binaries}/kubelet`, '--version']),
        command(at('version-containerd.txt'), ['containerd', '--version']),
        command(at('version-crio.txt'), ['crio', '--version']),
        command(at('version-runc.txt'), ['runc', '--version']),
        command(at('version-crun.txt'), ['crun', '--version']),
        listing(at('folder.txt'), folder),
        listing(at('pki.txt'), kubeletPki),
        listing(at('pods.txt'), `${folder}/pods`),
        listing(at('plugins.txt'), `${folder}/plugins_registry`),
        listing(at('cni.txt'), onHost('/etc/cni/net.d')),
      ])),
    ];
  },
};

/** Its health response, or why there is none, which is a finding too. */
async function health(_: GatherHost, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(HEALTH, { signal, redirect: 'error' });
    const body = (await response.text()).slice(0, 4096);
    return response.ok ? `${body}\n` : `HTTP ${response.status}\n${body}\n`;
  } catch (error) {
    signal.throwIfAborted();
    return `no answer of ${HEALTH}: ${describeError(error)}\n`;
  }
}
