/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include <gio/gio.h>

#include "base/arena-version-macros.h"

G_BEGIN_DECLS

typedef struct _ArenaBackend     ArenaBackend;
typedef struct _ArenaConsumer    ArenaConsumer;
typedef struct _ArenaField       ArenaField;
typedef struct _ArenaPool        ArenaPool;
typedef struct _ArenaProducer    ArenaProducer;
typedef struct _ArenaReader      ArenaReader;
typedef struct _ArenaRemoteError ArenaRemoteError;
typedef struct _ArenaRing        ArenaRing;
typedef struct _ArenaStats       ArenaStats;
typedef struct _ArenaUnit        ArenaUnit;
typedef struct _ArenaUnitBuilder ArenaUnitBuilder;
typedef struct _ArenaWorker      ArenaWorker;
typedef struct _ArenaWriter      ArenaWriter;

G_END_DECLS
