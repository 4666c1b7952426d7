import t from 'tap';
import { restartUnits } from '../../../../agents/upkeep/rotate/units.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { testHost } from '../host/host.ts';

const KUBELET = ['systemctl restart kubelet.service'];
const LOOK = 'systemctl show sno-deferred.service --property=ActiveState';

t.test('services that read a changed file only when they start are restarted', async (t) => {
  const table: [what: string, changed: string[], deferred: string, calls: string[]][] = [
    ['nothing that a service reads once', ['/etc/kubernetes/pki/etcd/ca.crt'], 'active', []],
    ["the kubelet's CA", ['/etc/kubernetes/pki/kubelet/api-ca.crt'], 'active', KUBELET],
    ["the kubelet's identity", ['/var/lib/kubelet/pki/kubelet-client-current.pem'], '', KUBELET],
    ["the kubelet's certificate", ['/var/lib/kubelet/pki/kubelet-server-current.pem'], '', KUBELET],
    [
      'the CA of its clients, which it reads again',
      ['/etc/kubernetes/pki/kubelet/client-ca.crt'],
      '',
      [],
    ],
    [
      'the identity of an agent that waits',
      [issuedLeaves.deferred.certificate],
      'active',
      [LOOK, 'systemctl restart sno-deferred.service'],
    ],
    ['the same after its end', [issuedLeaves.deferred.certificate], 'inactive', [LOOK]],
    ['the same once it has failed', [issuedLeaves.deferred.certificate], 'failed', [LOOK]],
    ['the same while it starts', [issuedLeaves.deferred.certificate], 'activating', [LOOK]],
  ];
  for (const [what, changed, deferred, calls] of table) {
    const host = testHost(t);
    host.programs.give('systemctl', `if [ "$1" = show ]; then echo ActiveState=${deferred}; fi`);
    const restarted: string[] = [];
    const restarts = async (name: string) => {
      const call = `systemctl restart ${name}.service`;
      t.notOk(host.programs.calls().includes(call), `${what}: recorded before it is restarted`);
      restarted.push(name);
    };
    await restartUnits(changed, restarts, host.progress());
    const units = calls.filter((call) => call !== LOOK);
    t.same(
      restarted.map((name) => `systemctl restart ${name}.service`),
      units,
      `${what}: recorded`,
    );
    t.same(host.programs.calls(), calls, what);
  }
});
