#!/bin/bash
# As the official image: a cluster and a database, made where there is none yet.
set -eu
data=/var/lib/postgresql/18/docker
as_user=(setpriv --reuid=node --regid=node --clear-groups)
if [ ! -e $data/PG_VERSION ]; then
  install -d -o node -g node -m 700 $data
  install -o node -m 600 /dev/null /tmp/password
  echo "$POSTGRES_PASSWORD" > /tmp/password
  "${as_user[@]}" /usr/local/pgsql/bin/initdb --pgdata $data --username "$POSTGRES_USER" --pwfile /tmp/password --encoding UTF8 --no-sync \
    --auth scram-sha-256
  "${as_user[@]}" /usr/local/pgsql/bin/postgres --single -D $data postgres <<< "CREATE DATABASE $POSTGRES_DB"
  echo 'host all all all scram-sha-256' >> $data/pg_hba.conf
fi
exec "${as_user[@]}" /usr/local/pgsql/bin/postgres -D $data -c 'listen_addresses=*' -c unix_socket_directories=/tmp
