import t from 'tap';
import { changedIn, undocumented } from '../../../lab/checks/deployment.ts';
import { deploymentsIn } from '../../../lab/host/deployments.ts';

const NEW = '4f'.repeat(32);
const OLD = 'd2'.repeat(32);
const pathOf = (id: string) => `/sysroot/ostree/deploy/lab/deploy/${id}`;

t.test('deployments in the order in which they boot', async (t) => {
  const status = `  lab ${NEW}.1 (pending)
    Version: 2
    origin refspec: lab/x86_64/stable
* lab ${OLD}.0
    Version: 1
    origin refspec: lab/x86_64/stable
`;
  const expected = [
    { path: pathOf(`${NEW}.1`), isBooted: false },
    { path: pathOf(`${OLD}.0`), isBooted: true },
  ];
  t.same(deploymentsIn(status), expected);
  t.same(deploymentsIn(status.trim()), expected, 'as a command of the host is read');
  t.same(deploymentsIn('No deployments.\n'), []);
});

t.test('what is in /etc beside what is documented', async (t) => {
  const text = `M    machine-id
A    systemd/system/multi-user.target.wants/kubelet.service
A    systemd/system/kubelet.service
A    systemd/system/kubelet.service.d
A    systemd/system/kubelet.service.d/10-sno-proxy.conf
A    systemd/system/look.service
A    sno-agents
A    sno-agents/cluster.json
A    containers
A    containers/registries.conf.d
A    containers/registries.conf.d/50-sno-mirrors.conf
A    containers/registries.conf.d/mirrors.conf
A    cni/net.d/10-sno.conflist
D    fstab
A    x
`;
  const found = undocumented(changedIn(text));
  t.same(found, [
    'systemd/system/look.service',
    'containers/registries.conf.d/mirrors.conf',
    'fstab',
    'x',
  ]);
});
