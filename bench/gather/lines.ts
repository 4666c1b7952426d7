/**
 * Log lines like those of a node, each with its own ids and figures, the same in every run.
 * What matters is how well they compress and how much of them is inspected for secrets.
 */
export interface LogLine {
  readonly unit: string;
  readonly priority: number;
  readonly text: string;
}

interface Ids {
  number(below: number): number;
  hex(digits: number): string;
  uuid(): string;
}

const TEMPLATES: readonly ((ids: Ids) => LogLine)[] = [
  ({ number, hex, uuid }) => ({
    unit: 'kubelet',
    priority: 6,
    text: `I0312 10:${number(60)}:${number(60)}.${number(1e6)}    2417 kubelet.go:2453] "SyncLoop (PLEG): event for pod" pod="openshift-multus/network-metrics-daemon-${hex(5)}" event={"ID":"${uuid()}","Type":"ContainerStarted","Data":"${hex(64)}"}`,
  }),
  ({ number, uuid }) => ({
    unit: 'kubelet',
    priority: 4,
    text: `E0312 10:${number(60)}:${number(60)}.${number(1e6)}    2417 pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"registry\\" with CrashLoopBackOff: \\"back-off ${number(300)}s restarting failed container=registry pod=image-registry_openshift-image-registry(${uuid()})\\"" podUID="${uuid()}"`,
  }),
  ({ number, hex }) => ({
    unit: 'etcd',
    priority: 6,
    text: `{"level":"warn","ts":"2026-03-12T10:${number(60)}:${number(60)}.${number(1e6)}Z","caller":"etcdserver/util.go:170","msg":"apply request took too long","took":"${number(900)}.${number(1e6)}ms","expected-duration":"200ms","prefix":"read-only range ","request":"key:\\"/registry/pods/default/web-${hex(8)}\\" ","response":"range_response_count:1 size:${number(9000)}"}`,
  }),
  ({ number, uuid }) => ({
    unit: 'kube-apiserver',
    priority: 6,
    text: `I0312 10:${number(60)}:${number(60)}.${number(1e6)}      17 httplog.go:134] "HTTP" verb="GET" URI="/api/v1/namespaces/openshift-config/configmaps?resourceVersion=${number(1e7)}&watch=true" latency="${number(500)}.${number(1e6)}ms" userAgent="cluster-version-operator/v0.0.0 (linux/amd64) kubernetes/$Format" audit-ID="${uuid()}" srcIP="10.128.${number(4)}.${number(250)}:${number(60000)}" resp=200`,
  }),
  ({ number, hex }) => ({
    unit: 'crio',
    priority: 6,
    text: `time="2026-03-12 10:${number(60)}:${number(60)}.${number(1e9)}Z" level=info msg="Created container ${hex(64)}: openshift-dns/dns-default-${hex(5)}/dns" id=${hex(8)} name=/runtime.v1.RuntimeService/CreateContainer`,
  }),
  ({ number, hex }) => ({
    unit: 'containerd',
    priority: 6,
    text: `time="2026-03-12T10:${number(60)}:${number(60)}.${number(1e9)}Z" level=info msg="ImageUpdate event name:\\"quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:${hex(64)}\\" labels:{key:\\"io.cri-containerd.image\\" value:\\"managed\\"}"`,
  }),
  ({ number, hex }) => ({
    unit: 'NetworkManager',
    priority: 6,
    text: `<info>  [17733${number(1e5)}.${number(1e4)}] device (veth${hex(8)}): state change: ip-config -> secondaries (reason 'none', sys-iface-state: 'external')`,
  }),
  ({ number }) => ({
    unit: 'ovs-vswitchd',
    priority: 6,
    text: `ovs|${number(1e5)}|connmgr|INFO|br-int<->unix#${number(1e5)}: ${number(50)} flow_mods in the last ${number(60)} s (${number(50)} adds, ${number(50)} deletes)`,
  }),
];

/** An endless sequence of lines; the same one for the same seed. */
export function* logLines(seed: number): Generator<LogLine> {
  let state = seed;
  // mulberry32
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const hex = (digits: number) => {
    let text = '';
    while (text.length < digits) text += random().toString(16).padStart(8, '0');
    return text.slice(0, digits);
  };
  const ids: Ids = {
    number: (below) => random() % below,
    hex,
    uuid: () => `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`,
  };
  for (;;) {
    const template = TEMPLATES[random() % TEMPLATES.length];
    if (template !== undefined) yield template(ids);
  }
}
