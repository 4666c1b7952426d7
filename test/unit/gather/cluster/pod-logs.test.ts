import t from 'tap';
import { podLogs } from '../../../../agents/gather/sources/pod-logs.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { read, testHost } from './host.ts';
import { adminKubeconfig, serveApi } from './serve-api.ts';

const { bootstrapAdmin } = accessTo('kubernetes').kubeconfigs;

function pod(name: string, nodeName: string | undefined, restarts: readonly number[]) {
  const containerStatuses = restarts.map((restartCount, index) => ({
    name: `c${index}`,
    restartCount,
    // Negative: it has not run yet.
    containerID: restartCount < 0 ? '' : 'containerd://a',
  }));
  return {
    metadata: { namespace: 'ns', name },
    spec: nodeName === undefined ? {} : { nodeName },
    status: { containerStatuses },
  };
}

t.test(
  'logs of other nodes come through the API, and after one timeout no other log of that node is requested',
  async (t) => {
    const asked: string[] = [];
    const items = [
      pod('here', 'edge-0', [1]),
      pod('pending', undefined, [0]),
      pod('remote', 'worker-0', [2, 0, -1]),
      pod('lost', 'worker-1', [1]),
    ];
    const { port } = await serveApi(t, ({ url = '' }, answer) => {
      asked.push(url);
      if (url === '/version') return void answer.end('{}');
      if (url.startsWith('/api/v1/pods')) return void answer.end(JSON.stringify({ items }));
      if (url.includes('/lost/')) return void answer.destroy();
      answer.end(`${new URL(url, 'https://x').searchParams.get('previous') ?? 'now'}\n`);
    });
    const { host, write } = testHost(t, 'live', { sinceMs: Date.parse('2026-01-01') });
    write(bootstrapAdmin, adminKubeconfig(port));
    write('/var/log/pods/ns_here_uid/c0/0.log', '');
    const sources = await podLogs.list(host, AbortSignal.timeout(10_000));
    const files: Record<string, object> = {};
    for (const source of sources) files[source.path] = await read(source, host);
    const at = (name: string) => `resources/pod-logs/ns/${name}`;
    t.match(files, {
      [at('remote/c0.log')]: { text: 'now\n' },
      [at('remote/c0.previous.log')]: { text: 'true\n' },
      [at('remote/c1.log')]: { text: 'now\n' },
      [at('lost/c0.log')]: { text: '', failure: /socket hang up/ },
      [at('lost/c0.previous.log')]: { text: '', failure: /socket hang up/ },
    });
    t.equal(Object.keys(files).length, 5);
    t.equal(asked.filter((url) => url.includes('/lost/')).length, 1);
    const [first = ''] = asked.filter((url) => url.includes('/remote/'));
    t.match(Object.fromEntries(new URL(first, 'https://x').searchParams), {
      container: 'c0',
      timestamps: 'true',
      tailLines: '20000',
      limitBytes: String(4 << 20),
      sinceTime: '2026-01-01T00:00:00.000Z',
    });
  },
);
