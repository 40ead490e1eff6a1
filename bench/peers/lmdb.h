/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LMDB by itself: letters by number in one table, leased ones in another, a
 * write transaction for a group. No checks, no counts, no lease that ends.
 */
#ifndef BENCH_PEERS_LMDB_H
#define BENCH_PEERS_LMDB_H

#include "support/harness.h"
#include <cstring>
#include <lmdb.h>
#include <string>

namespace bench
{

class Lmdb
{
  public:
    Lmdb(const std::string &folder, bool synced)
    {
        MDB_txn *first;

        check(mdb_env_create(&env), "mdb_env_create");
        check(mdb_env_set_mapsize(env, std::size_t(16) << 30), "mapsize");
        check(mdb_env_set_maxdbs(env, 2), "maxdbs");
        check(mdb_env_open(env, folder.c_str(),
                           MDB_NOTLS | (synced ? 0 : MDB_NOSYNC), 0600),
              "mdb_env_open");
        check(mdb_txn_begin(env, nullptr, 0, &first), "mdb_txn_begin");
        check(mdb_dbi_open(first, "ready", MDB_CREATE, &ready), "mdb_dbi_open");
        check(mdb_dbi_open(first, "leased", MDB_CREATE, &leased),
              "mdb_dbi_open");
        check(mdb_txn_commit(first), "mdb_txn_commit");
    }

    ~Lmdb()
    {
        mdb_env_close(env);
    }

    Lmdb(const Lmdb &) = delete;

    void begin()
    {
        check(mdb_txn_begin(env, nullptr, 0, &txn), "mdb_txn_begin");
    }

    void commit()
    {
        check(mdb_txn_commit(txn), "mdb_txn_commit");
    }

    /* So many letters behind the last one. */
    void send(const std::string &body, std::size_t count)
    {
        uint64_t number = last() + 1;
        MDB_val value = {body.size(), const_cast<char *>(body.data())};

        for (std::size_t i = 0; i < count; i++, number++) {
            uint64_t bytes = __builtin_bswap64(number);
            MDB_val key = {sizeof(bytes), &bytes};

            check(mdb_put(txn, ready, &key, &value, MDB_APPEND), "mdb_put");
        }
    }

    /* Leases the first `count` letters: their numbers. */
    void lease(uint64_t *ret, std::size_t count)
    {
        for (std::size_t i = 0; i < count; i++) {
            MDB_cursor *cursor;
            MDB_val key, value;

            check(mdb_cursor_open(txn, ready, &cursor), "mdb_cursor_open");
            check(mdb_cursor_get(cursor, &key, &value, MDB_FIRST), "no letter");
            std::string body(static_cast<char *>(value.mv_data), value.mv_size);
            std::memcpy(&ret[i], key.mv_data, sizeof(ret[i]));
            check(mdb_cursor_del(cursor, 0), "mdb_cursor_del");
            mdb_cursor_close(cursor);

            MDB_val mine = {sizeof(ret[i]), &ret[i]};
            MDB_val kept = {body.size(), &body[0]};
            check(mdb_put(txn, leased, &mine, &kept, 0), "mdb_put");
        }
    }

    void acknowledge(uint64_t *numbers, std::size_t count)
    {
        for (std::size_t i = 0; i < count; i++) {
            MDB_val key = {sizeof(numbers[i]), &numbers[i]};

            check(mdb_del(txn, leased, &key, nullptr), "mdb_del");
        }
    }

    void empty()
    {
        begin();
        check(mdb_drop(txn, ready, 0), "mdb_drop");
        check(mdb_drop(txn, leased, 0), "mdb_drop");
        commit();
    }

  private:
    static void check(int status, const char *what)
    {
        if (status != 0)
            fail("lmdb: %s: %s", what, mdb_strerror(status));
    }

    uint64_t last()
    {
        MDB_cursor *cursor;
        MDB_val key, value;
        uint64_t bytes = 0;

        check(mdb_cursor_open(txn, ready, &cursor), "mdb_cursor_open");
        if (mdb_cursor_get(cursor, &key, &value, MDB_LAST) == 0)
            std::memcpy(&bytes, key.mv_data, sizeof(bytes));
        mdb_cursor_close(cursor);
        return __builtin_bswap64(bytes);
    }

    MDB_env *env = nullptr;
    MDB_txn *txn = nullptr;
    MDB_dbi ready, leased;
};

} // namespace bench

#endif
