#include <algorithm>
#include <limits>
#include <set>

#include "src/lower/schedule_draft.h"

namespace heddle::lower {
namespace {

using ir::Access;
using ir::BufferId;
using ir::BufferKind;
using ir::kNoBuffer;
using ir::ScheduledBody;
using ir::ScheduledStatement;

constexpr int64_t kAlignment = 64;

/// Every statement of the program, loops' bodies included.
void each_statement(ScheduledBody& body, const std::function<void(ScheduledStatement&)>& visit) {
  for (ScheduledStatement& statement : body) {
    visit(statement);
    if (auto* loop = std::get_if<ir::KeyLoopSchedule>(&statement.op)) each_statement(loop->body, visit);
  }
}

bool touches(const ScheduledStatement& statement, BufferId buffer, Access wanted) {
  bool found = false;
  ir::visit_buffers(statement, [&](BufferId id, Access access) { found = found || (id == buffer && access == wanted); });
  return found;
}

/// True when the statement may write `out` where it reads `in`: it reads each element before it writes there.
bool in_place(const ScheduledStatement& statement, BufferId in, BufferId out) {
  if (const auto* contract = std::get_if<ir::Contract>(&statement.op)) {
    return contract->kind == ir::Contraction::OverKeys && contract->out == out && contract->accumulate.matrix == in &&
           contract->lhs != in && contract->accumulate.scale != in;
  }
  return std::holds_alternative<ir::Sweep>(statement.op) || std::holds_alternative<ir::RowMap>(statement.op);
}

/// Makes loops carry their state in fixed buffers.
class StateInPlace {
 public:
  explicit StateInPlace(ScheduleDraft& draft) : draft_(draft) {}

  void run() {
    ScheduledBody result;
    for (size_t i = 0; i < draft_.program.body.size(); ++i) {
      ScheduledStatement& statement = draft_.program.body[i];
      const auto carried = draft_.carried.find(i);
      if (carried != draft_.carried.end()) {
        for (CarriedBuffers& c : carried->second) enter(c, result);
        leave(carried->second, std::get<ir::KeyLoopSchedule>(statement.op).body);
      }
      result.push_back(std::move(statement));
    }
    draft_.program.body = std::move(result);
    rename_all();
  }

 private:
  BufferId home(BufferId id) const {
    const auto found = renamed_.find(id);
    return found == renamed_.end() ? id : home(found->second);
  }

  /// The state starts in the buffer of its initial value when nothing else reads that, else as a copy.
  void enter(const CarriedBuffers& c, ScheduledBody& before) {
    if (reads_outside(c.init) == 1 && !home_of_state_.contains(home(c.init))) {
      renamed_[c.inner] = c.init;
    } else {
      before.push_back({ir::CopyBuffer{c.inner, c.init}});
    }
    renamed_[c.out] = c.inner;
    home_of_state_.insert(home(c.inner));
  }

  /// How often a value is read, as an initial value or by statements.
  int reads_outside(BufferId id) {
    int count = 0;
    each_statement(draft_.program.body, [&](ScheduledStatement& s) { count += touches(s, id, Access::Read); });
    for (const auto& [index, list] : draft_.carried) {
      for (const CarriedBuffers& c : list) count += (c.init == id) + (c.yield == id);
    }
    return count;
  }

  void leave(const std::vector<CarriedBuffers>& carried, ScheduledBody& body) {
    std::vector<ir::CopyBuffer> copies;
    std::set<BufferId> targets;
    for (const CarriedBuffers& c : carried) {
      if (written_in_place(c, carried, body)) {
        renamed_[c.yield] = c.inner;
      } else {
        copies.push_back({c.inner, c.yield});
        targets.insert(c.inner);
      }
    }
    for (ir::CopyBuffer& copy : copies) {  // a source that is another target is saved first
      if (!targets.contains(copy.in) || copy.in == copy.out) continue;
      ir::Buffer spare = draft_.program.buffers[static_cast<size_t>(copy.in)];
      spare.name += ".next";
      draft_.program.buffers.push_back(spare);
      const auto id = static_cast<BufferId>(draft_.program.buffers.size()) - 1;
      body.push_back({ir::CopyBuffer{id, copy.in}});
      copy.in = id;
    }
    for (const ir::CopyBuffer& copy : copies) {
      if (copy.in != copy.out) body.push_back({copy});
    }
  }

  /// The statement that makes the next state is the last to read the old one, and may overwrite it.
  static bool written_in_place(const CarriedBuffers& c, const std::vector<CarriedBuffers>& carried, const ScheduledBody& body) {
    const auto same = std::count_if(carried.begin(), carried.end(), [&](const CarriedBuffers& o) { return o.yield == c.yield; });
    const bool is_state = std::any_of(carried.begin(), carried.end(), [&](const CarriedBuffers& o) { return o.inner == c.yield; });
    const bool state_yielded = std::any_of(carried.begin(), carried.end(), [&](const CarriedBuffers& o) { return o.yield == c.inner; });
    if (same != 1 || is_state || state_yielded) return false;
    size_t defined = body.size();
    for (size_t i = 0; i < body.size(); ++i) {
      if (touches(body[i], c.yield, Access::Write)) defined = std::min(defined, i);
    }
    if (defined == body.size()) return false;
    for (size_t i = defined; i < body.size(); ++i) {
      if (touches(body[i], c.inner, Access::Read) && (i > defined || !in_place(body[i], c.inner, c.yield))) return false;
    }
    return true;
  }

  void rename_all() {
    each_statement(draft_.program.body, [&](ScheduledStatement& statement) {
      ir::visit_buffers(statement, std::function<void(BufferId&, Access)>([&](BufferId& id, Access) { id = home(id); }));
    });
  }

  ScheduleDraft& draft_;
  std::map<BufferId, BufferId> renamed_;
  std::set<BufferId> home_of_state_;
};

/// First and last statement at which a buffer matters.
struct Lifetime {
  int first = std::numeric_limits<int>::max(), last = -1;
  void extend(int at) { first = std::min(first, at), last = std::max(last, at); }
};

/// Shares buffers between values whose lifetimes do not overlap, and places the rest.
class Placement {
 public:
  explicit Placement(ir::ScheduledProgram& program) : program_(program), lifetimes_(program.buffers.size()) {}

  void run() {
    walk(program_.body);
    lifetimes_[static_cast<size_t>(program_.frame)] = {0, position_};
    lifetimes_[static_cast<size_t>(program_.sink)] = {0, position_};
    share();
    each_statement(program_.body, [&](ScheduledStatement& statement) {
      ir::visit_buffers(statement, std::function<void(BufferId&, Access)>([&](BufferId& id, Access) { id = place_[static_cast<size_t>(id)]; }));
    });
    compact();
  }

 private:
  void walk(const ScheduledBody& body) {
    for (const ScheduledStatement& statement : body) {
      const int at = position_++;
      statements_.push_back(&statement);
      ir::visit_buffers(statement, [&](BufferId id, Access) { lifetimes_[static_cast<size_t>(id)].extend(at); });
      const auto* loop = std::get_if<ir::KeyLoopSchedule>(&statement.op);
      if (!loop) continue;
      walk(loop->body);
      statements_.push_back(&statement);  // the way back: what lives until here outlives the last statement of the body
      extend_over(at, position_++);
    }
  }
  /// What a loop's body shares with statements before it, or reads before writing, lives through all of its steps.
  void extend_over(int begin, int end) {
    std::set<BufferId> written;
    for (int at = begin + 1; at < end; ++at) {
      ir::visit_buffers(*statements_[static_cast<size_t>(at)], [&](BufferId id, Access access) {
        Lifetime& life = lifetimes_[static_cast<size_t>(id)];
        const bool state = access == Access::Read && !written.contains(id);
        if (state || life.first < begin) life.extend(begin), life.extend(end);
        if (access == Access::Write) written.insert(id);
      });
    }
  }

  void share() {
    std::vector<BufferId> order;
    for (size_t i = 0; i < lifetimes_.size(); ++i) {
      if (lifetimes_[i].last >= 0) order.push_back(static_cast<BufferId>(i));
    }
    std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) { return life(a).first < life(b).first; });
    place_.assign(lifetimes_.size(), kNoBuffer);
    for (BufferId id : order) place(id, order);
  }
  const Lifetime& life(BufferId id) const { return lifetimes_[static_cast<size_t>(id)]; }

  void place(BufferId id, const std::vector<BufferId>& order) {
    for (BufferId home : order) {
      if (place_[static_cast<size_t>(home)] != home || !same_shape(home, id)) continue;
      const bool free = std::all_of(order.begin(), order.end(), [&](BufferId other) {
        return place_[static_cast<size_t>(other)] != home || ends_before(other, id);
      });
      if (!free) continue;
      place_[static_cast<size_t>(id)] = home;
      return;
    }
    place_[static_cast<size_t>(id)] = id;
  }
  bool same_shape(BufferId a, BufferId b) const {
    const ir::Buffer &x = program_.buffers[static_cast<size_t>(a)], &y = program_.buffers[static_cast<size_t>(b)];
    return x.kind == y.kind && x.columns == y.columns && x.width == y.width && x.element == y.element;
  }
  bool ends_before(BufferId old, BufferId next) const {
    if (life(old).last < life(next).first) return true;
    return life(old).last == life(next).first && in_place(*statements_[static_cast<size_t>(life(next).first)], old, next);
  }

  /// Drops unused buffers and gives the others their places.
  void compact() {
    std::vector<BufferId> index(program_.buffers.size(), kNoBuffer);
    std::vector<ir::Buffer> kept;
    int64_t end = 0;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      if (place_[i] != static_cast<BufferId>(i)) continue;
      ir::Buffer buffer = program_.buffers[i];
      buffer.offset = end;
      buffer.bytes = (program_.needed(buffer) + kAlignment - 1) / kAlignment * kAlignment;
      end += buffer.bytes;
      index[i] = static_cast<BufferId>(kept.size());
      kept.push_back(buffer);
    }
    program_.buffers = kept;
    program_.scratch_bytes = end;
    program_.frame = index[static_cast<size_t>(program_.frame)], program_.sink = index[static_cast<size_t>(program_.sink)];
    each_statement(program_.body, [&](ScheduledStatement& statement) {
      ir::visit_buffers(statement, std::function<void(BufferId&, Access)>([&](BufferId& id, Access) { id = index[static_cast<size_t>(id)]; }));
    });
  }

  ir::ScheduledProgram& program_;
  std::vector<Lifetime> lifetimes_;
  std::vector<const ScheduledStatement*> statements_;
  std::vector<BufferId> place_;
  int position_ = 0;
};

}  // namespace

ir::ScheduledProgram assign_buffers(ScheduleDraft draft) {
  StateInPlace(draft).run();
  Placement(draft.program).run();
  return std::move(draft.program);
}

}  // namespace heddle::lower
