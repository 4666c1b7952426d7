#!/bin/bash
# Asks dracut for the network. Its hook ran before this was known, and runs again.
. /usr/lib/dracut-lib.sh
getargbool 0 rd.neednet && exit 0
{
  echo rd.neednet=1
  getargs ip= > /dev/null || echo ip=auto
} > /etc/cmdline.d/40-coreos-neednet.conf
. /usr/lib/dracut/hooks/cmdline/99-nm-config.sh
