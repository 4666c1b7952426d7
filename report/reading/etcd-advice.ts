/** What is done about a database that is too large: hosts of the Kubernetes payload have no etcdctl. */
export const FREE_SPACE =
  'With the Kubernetes payload, run "sno-backup compact": it compacts and defragments the database and takes NOSPACE back. With OpenShift, whose etcd operator defragments by itself, take the alarm back as its documentation describes.';

/** What is done about a database that is damaged. */
export const RESTORE =
  'with the Kubernetes payload, restore a backup: "sno-backup list" prints them, "sno-backup restore --from NAME" restores one. With OpenShift, restore one as its documentation describes.';
